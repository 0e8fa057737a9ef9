package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hone-dev/hone/pkg/model"
)

// TakeIn moves the records of the ledgers of the project's former IDs into this one. Existing records of this ledger
// win. Former ledgers that do not exist are skipped.
func (l *Ledger) TakeIn(former []string) error {
	for _, id := range former {
		if id == l.key.Project {
			continue
		}
		if err := l.takeIn(LedgerKey{Cluster: l.key.Cluster, Project: id}); err != nil {
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
	if err := l.takeIn(LedgerKey{Cluster: cluster, Project: l.key.Project}); err != nil {
		return fmt.Errorf("take over the records of cluster %s: %w", cluster, err)
	}
	return nil
}

// takeIn moves the records and the stored declarations of another ledger into this one, and removes its file. It holds
// the lock of that ledger, so that no other process writes to it meanwhile.
func (l *Ledger) takeIn(key LedgerKey) error {
	dir := filepath.Dir(l.path)
	if _, err := os.Stat(ledgerPath(dir, key)); err != nil {
		return nil
	}
	from, err := Open(dir, key)
	if err != nil {
		return err
	}
	unlock, err := lockBeside(from.path)
	if err != nil {
		return err
	}
	defer unlock()
	from.mu.Lock()
	defer from.mu.Unlock()
	old, err := from.current()
	if err != nil {
		return err
	}
	if err := l.change(func(c content) { c.add(old) }); err != nil {
		return err
	}
	if err := l.takeApplied(from); err != nil {
		return err
	}
	return os.Remove(from.path)
}

// add adds the objects and commands of old that c does not have.
func (c content) add(old content) {
	known := map[model.ObjectID]bool{}
	for _, list := range c.objects {
		for _, r := range list {
			known[r.ObjectID] = true
		}
	}
	for name, list := range old.objects {
		more := dropped(list, func(r ObjectRecord) bool { return known[r.ObjectID] })
		c.objects[name] = append(slices.Clone(c.objects[name]), more...)
	}
	for name, cmd := range old.commands {
		if _, ok := c.commands[name]; !ok {
			c.commands[name] = cmd
			if deps, ok := old.deps[name]; ok {
				c.deps[name] = deps
			}
		}
	}
}
