package buildanddeploy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// Prune says which objects a session may delete that the Tiltfile no longer declares.
type Prune int

// PruneCarefully, the zero value, has a prune guard: it deletes nothing while that would be at least six objects and more than half of
// all, declared or not. A pattern that matches no file, or an empty output of a command, then does no harm.
const (
	PruneCarefully Prune = iota
	PruneAll
	PruneNothing
)

// guardFrom is the number of objects about to be deleted from which on the prune guard works. Fewer are quickly deployed again.
const guardFrom = 6

// keeps returns the reason why the objects that are no longer declared are kept; empty if they may be deleted. Only the objects of
// the chosen resources count; nil chooses all.
func (p Prune) keeps(ctx context.Context, c *Cluster, memory *deploy.Memory, declared func() []model.Manifest, chosen func(model.ManifestName) bool, namespace string) string {
	switch p {
	case PruneAll:
		return ""
	case PruneNothing:
		return "--no-prune; hone gc deletes them"
	case PruneCarefully:
	}
	records, err := memory.Resources()
	if err != nil || declared == nil {
		return ""
	}
	owner, going := c.owner(ctx, declared, "", namespace), 0
	for name, list := range records {
		if chosen != nil && !chosen(name) {
			continue
		}
		for _, r := range list {
			if r.Stays() && !isDeclared(owner, r.ObjectID) {
				going++
			}
		}
	}
	// Count the declared objects, not the recorded ones: a deploy that runs meanwhile would change the answer.
	all := going
	for _, m := range declared() {
		if m.K8s != nil && (chosen == nil || chosen(m.Name)) {
			all += len(m.K8s.Objects)
		}
	}
	if going < guardFrom || 2*going <= all {
		return ""
	}
	return fmt.Sprintf("%d of %d objects would be deleted, which may be a mistake in the Tiltfile; hone gc shows and deletes them, --prune=all allows it", going, all)
}

// Kept describes the objects that stay although they are no longer declared.
type Kept struct {
	// Why is the reason why objects that are no longer declared stay; empty if they are deleted. Guarded is set if the reason is the
	// prune guard, and not a flag.
	Why     string
	Guarded bool
	// Resources are the resources that are no longer declared and have something in the cluster, sorted.
	Resources []model.ManifestName
}

// Kept returns the objects of the chosen resources that stay although they are no longer declared.
func (c *Cluster) Kept(ctx context.Context, declared func() []model.Manifest, chosen func(model.ManifestName) bool, namespace string) (Kept, error) {
	memory, records, err := c.recorded(ctx)
	if err != nil {
		return Kept{}, err
	}
	k := Kept{Why: c.prune.keeps(ctx, c, memory, declared, chosen, namespace)}
	if k.Why == "" {
		return k, nil
	}
	k.Guarded = c.prune == PruneCarefully
	known := map[model.ManifestName]bool{}
	for _, m := range declared() {
		known[m.Name] = m.IsK8s()
	}
	for _, name := range slices.Sorted(maps.Keys(records)) {
		if !known[name] && chosen(name) {
			k.Resources = append(k.Resources, name)
		}
	}
	return k, nil
}

// isDeclared reports whether a resource declares a recorded object. A cluster-scoped one may be recorded with a namespace.
func isDeclared(owner func(model.ObjectID) (model.ManifestName, bool), id model.ObjectID) bool {
	root := id
	root.Namespace = ""
	_, declared := owner(id)
	_, declaredRoot := owner(root)
	return declared || declaredRoot
}
