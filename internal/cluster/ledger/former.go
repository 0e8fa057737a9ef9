package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// TakeIn moves the records of the ledgers of the project's IDs in a storage into this ledger. Existing records of this ledger
// win. The ledger itself, and ledgers that do not exist, are skipped.
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

// takeIn moves the records and notes of another ledger into this one, and removes its documents. If another process writes to that ledger
// meanwhile, it begins again.
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
		if err := l.change(func(c *content) { c.add(from.known) }); err != nil {
			return err
		}
		if err := l.takeFrom(ctx, from); !errors.Is(err, storage.ErrStale) {
			return err
		}
	}
}

// takeFrom moves the notes of another ledger here, where they do not exist, and removes its documents.
func (l *Ledger) takeFrom(ctx context.Context, from *Ledger) error {
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
