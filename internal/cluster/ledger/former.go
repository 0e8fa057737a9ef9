package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// TakeIn moves the ledgers of the project's IDs in a storage into this ledger: whole, with the history, if this one does not exist yet.
// Otherwise the history of this one goes on, and its records win. The ledger itself, and ledgers that do not exist, are skipped.
func (l *Ledger) TakeIn(from storage.Storage, ids []string) error {
	for _, id := range ids {
		if err := l.takeIn(from, Key{Cluster: l.key.Cluster, Project: id}); err != nil {
			return fmt.Errorf("take over the records of project %s: %w", id, err)
		}
	}
	return nil
}

// TakeInCluster moves the records of the project's ledger for another name of the same cluster into this one, as TakeIn
// does.
func (l *Ledger) TakeInCluster(cluster string) error {
	if err := l.takeIn(l.storage, Key{Cluster: cluster, Project: l.key.Project}); err != nil {
		return fmt.Errorf("take over the records of cluster %s: %w", cluster, err)
	}
	return nil
}

// takeIn moves another ledger into this one, and removes its documents. If another process writes to that ledger meanwhile, it begins again.
func (l *Ledger) takeIn(in storage.Storage, key Key) error {
	if in.String() == l.storage.String() && key == l.key {
		return nil
	}
	ctx, cancel := patience()
	defer cancel()
	for {
		from := &Ledger{storage: in, key: key, vault: l.vault}
		from.notes = newNotes(from)
		if err := from.load(ctx); err != nil || from.version == storage.None {
			return err
		}
		err := l.takeWhole(ctx, from)
		if errors.Is(err, errNotWhole) {
			err = l.merge(ctx, from)
		}
		if !errors.Is(err, storage.ErrStale) {
			return err
		}
	}
}

// errNotWhole says that a ledger cannot become this one as it is.
var errNotWhole = errors.New("there is a ledger already, or a part of the other one cannot be read")

// takeWhole makes another ledger, with its history, the content of this one, if this one does not exist yet. Otherwise it returns
// errNotWhole.
func (l *Ledger) takeWhole(ctx context.Context, from *Ledger) error {
	l.mu.Lock()
	_, err := l.current(ctx)
	exists := l.version != storage.None
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if exists {
		return errNotWhole
	}
	if _, err := from.archive(ctx); err != nil {
		return errNotWhole // the records count more than the history
	}
	return from.MoveTo(ctx, l, true)
}

// merge moves the records and notes of another ledger into this one, which has a history of its own.
func (l *Ledger) merge(ctx context.Context, from *Ledger) error {
	if err := l.change(func(c *content) { c.add(from.known) }); err != nil {
		return err
	}
	return l.takeFrom(ctx, from)
}

// takeFrom moves the notes of another ledger here, where they do not exist, and removes its documents.
func (l *Ledger) takeFrom(ctx context.Context, from *Ledger) error {
	if err := from.notes.ready(ctx); err != nil {
		return err
	}
	ids := from.known.gone(emptyContent()) // all
	for id := range ids {
		for _, k := range noteKinds {
			raw, at := from.notes.get(k, id)
			if raw == nil || !l.notes.written(k, id).IsZero() {
				continue
			}
			if err := l.notes.put(k, id, raw, at); err != nil {
				return err
			}
		}
	}
	if err := l.notes.save(ctx); err != nil {
		return err
	}
	if err := from.storage.Delete(ctx, from.key.head(), from.version); err != nil {
		return err
	}
	for _, r := range from.known.revisions { // they are about the same objects under another name
		if err := remove(ctx, from.storage, from.key.revision(r.Number)); err != nil {
			return err
		}
	}
	if err := from.notes.drop(ctx, ids); err != nil {
		return err
	}
	return from.notes.save(ctx)
}
