package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// In a storage in the cluster, the head is the parent of an ApplySet, whose members are the recorded objects. So kubectl can list them,
// and refuses to prune them.

// ApplySet returns the ID of the ApplySet of the recorded objects; empty if they belong to none.
func (l *Ledger) ApplySet() string {
	sets, ok := l.storage.(storage.ApplySets)
	if !ok {
		return ""
	}
	return sets.ApplySet(l.key.head())
}

// nameMembers writes the kinds and the namespaces of the ApplySet: those before a change, too, since their objects may still be there.
// l.mu is held.
func (l *Ledger) nameMembers(ctx context.Context, before, after content) error {
	sets, ok := l.storage.(storage.ApplySets)
	if !ok {
		return nil
	}
	kinds, namespaces := map[string]bool{}, map[string]bool{}
	for _, c := range []content{before, after} {
		for id := range c.gone(emptyContent()) { // all of them
			kinds[kindOf(id)] = true
			if id.Namespace != "" {
				namespaces[id.Namespace] = true
			}
		}
	}
	k, n := slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(namespaces))
	members := strings.Join(k, ",") + " in " + strings.Join(n, ",")
	if members == l.members {
		return nil
	}
	if err := sets.SetMembers(ctx, l.key.head(), k, n); err != nil {
		return fmt.Errorf("write the members of the ApplySet: %w", err)
	}
	l.members = members
	return nil
}

// kindOf returns a kind as ApplySets name it.
func kindOf(id model.ObjectID) string {
	if id.Group == "" {
		return id.Kind
	}
	return id.Kind + "." + id.Group
}

// Leave removes the whole ledger if it is empty and lies in the cluster, which a project leaves as it was. It keeps a ledger that lies
// elsewhere, whose history may still be of use.
func (l *Ledger) Leave() error {
	if _, ok := l.storage.(storage.ApplySets); !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := patience()
	defer cancel()
	if err := l.load(ctx); err != nil {
		return err
	}
	if l.version == storage.None || len(l.known.objects)+len(l.known.commands) > 0 {
		return nil
	}
	if err := l.storage.Delete(ctx, l.key.head(), l.version); err != nil {
		return fmt.Errorf("remove the empty %s: %w", strings.TrimPrefix(l.title(), "the "), err)
	}
	err := l.sweep(ctx)
	if err != nil {
		return fmt.Errorf("remove the history of the empty ledger: %w", err)
	}
	l.know(emptyContent(), storage.None)
	l.members = ""
	return nil
}
