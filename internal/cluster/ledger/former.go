package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// TakeIn moves the records of the ledgers of the project's former IDs into this one. Existing records of this ledger
// win. Former ledgers that do not exist are skipped.
func (l *Ledger) TakeIn(former []string) error {
	for _, id := range former {
		if id == l.key.Project {
			continue
		}
		if err := l.takeIn(Key{Cluster: l.key.Cluster, Project: id}); err != nil {
			return fmt.Errorf("take over the records of project %s: %w", id, err)
		}
	}
	return nil
}

// TakeInCluster moves the records of the project's ledger for another name of the same cluster into this one, as TakeIn
// does.
func (l *Ledger) TakeInCluster(cluster string) error {
	if cluster == l.key.Cluster {
		return nil
	}
	if err := l.takeIn(Key{Cluster: cluster, Project: l.key.Project}); err != nil {
		return fmt.Errorf("take over the records of cluster %s: %w", cluster, err)
	}
	return nil
}

// takeIn moves the records and notes of another ledger into this one, and removes its documents. If another process writes to that ledger
// meanwhile, it begins again.
func (l *Ledger) takeIn(key Key) error {
	ctx, cancel := patience()
	defer cancel()
	for {
		from := &Ledger{storage: l.storage, key: key, vault: l.vault}
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

func (l *Ledger) takeFrom(ctx context.Context, from *Ledger) error {
	if err := l.notes.takeFrom(ctx, from.notes); err != nil {
		return err
	}
	if err := l.storage.Delete(ctx, from.key.head(), from.version); err != nil {
		return err
	}
	for _, r := range from.known.revisions { // they are about the same objects under another name
		if err := remove(ctx, l.storage, from.key.revision(r.Number)); err != nil {
			return err
		}
	}
	return nil
}
