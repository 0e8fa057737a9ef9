package buildanddeploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// revisions are the revisions of the project that are known.
type revisions struct {
	mu      sync.Mutex
	list    []api.Revision // guarded by mu
	changed chan struct{}
}

// take replaces the list.
func (r *revisions) take(list []api.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = list
	select {
	case r.changed <- struct{}{}:
	default: // the last news has not been heard yet
	}
}

// Revised returns a channel that delivers a value when other revisions have become known. It has one reader.
func (c *Cluster) Revised() <-chan struct{} { return c.revisions.changed }

// Revisions returns the revisions of the project that are known so far, the newest one last. It reads no storage. The list must not be
// changed.
func (c *Cluster) Revisions() []api.Revision {
	c.revisions.mu.Lock()
	defer c.revisions.mu.Unlock()
	return c.revisions.list
}

// RevisionSteps returns the differences of a revision to the one before.
func (c *Cluster) RevisionSteps(ctx context.Context, number int) ([]api.PlanStep, error) {
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	return deploy.Revised(memory.Ledger, number)
}

// Revision returns the resources of an earlier revision, with the objects that were applied then. Objects that a command of the user
// deployed are left out.
func (c *Cluster) Revision(ctx context.Context, number int, log logstore.Logger) ([]model.Manifest, error) {
	ctx = patiently(ctx, log)
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := memory.Declared(number)
	if err != nil {
		return nil, err
	}
	var out []model.Manifest
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		target := &model.K8sTarget{PodReadiness: model.PodIgnore}
		for _, d := range objects[name] {
			if d.Record.Foreign {
				continue
			}
			u, kept, err := c.applier.Revive(ctx, memory, d, model.DefaultUpdateSettings.UpsertTimeout)
			if err != nil {
				return nil, fmt.Errorf("revision %d: %w", number, err)
			}
			if kept {
				logstore.Warnf(log, "%s keeps its present values: revision %d has only their digests", d.Record.ObjectID, number)
			}
			raw, err := u.MarshalJSON()
			if err != nil {
				return nil, err
			}
			target.Objects = append(target.Objects, model.K8sObject{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), JSON: string(raw)})
			if d.Record.RunsPods() {
				target.PodReadiness = model.PodWait
			}
		}
		if len(target.Objects) > 0 {
			out = append(out, model.Manifest{Name: name, AutoInit: true, K8s: target})
		}
	}
	return out, nil
}

// Commanded returns the resources that a command of the user deployed, as far as the ledger knows them.
func (c *Cluster) Commanded(ctx context.Context) ([]model.Manifest, error) {
	memory, err := c.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	commands, err := memory.Commands()
	if err != nil {
		return nil, err
	}
	var out []model.Manifest
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		out = append(out, model.Manifest{Name: name, K8s: &model.K8sTarget{CustomDeploy: &model.CustomDeploy{Delete: commands[name]}, PodReadiness: model.PodIgnore}})
	}
	return out, nil
}
