package collector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// cluster has a real ledger and records removals.
type cluster struct {
	memory *deploy.Memory

	mu      sync.Mutex
	err     error
	opened  int
	removed []string
	// bereft are resources whose objects every removal takes along.
	bereft []model.ManifestName
	stuck  map[model.ManifestName]chan struct{}
	// guarded is the reason why nothing is deleted, kept are the resources that stay, and asked counts the decisions.
	guarded string
	kept    []model.ManifestName
	asked   int
	// leaving are resources whose deploys have left something behind.
	leaving []model.ManifestName
}

func (c *cluster) Leaving(context.Context) ([]model.ManifestName, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.leaving), nil
}

func (c *cluster) Finish(ctx context.Context, req buildanddeploy.RemoveRequest) error {
	name := req.Resource
	if err := req.Settled(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.removed = append(c.removed, "rest of "+string(name))
	stuck := c.stuck["rest of "+name]
	c.mu.Unlock()
	if stuck != nil {
		select {
		case <-stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err == nil {
		c.leave()
	}
	return err
}

func (c *cluster) leave(names ...model.ManifestName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = names
}

func (c *cluster) Kept(context.Context, func() []model.Manifest, func(model.ManifestName) bool, string) (buildanddeploy.Kept, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	k := buildanddeploy.Kept{Why: c.guarded, Guarded: c.guarded != ""}
	if k.Guarded {
		k.Resources = c.kept
	}
	return k, nil
}

func (c *cluster) Prune(_ context.Context, declared []model.Manifest, chosen func(model.ManifestName) bool, _ string, _ logstore.Logger) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed = append(c.removed, fmt.Sprintf("all but %d", len(declared)))
	if c.err == nil && chosen("any") {
		c.guarded = ""
	}
	return c.err
}

func (c *cluster) guard(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guarded = why
}

func (c *cluster) Ledger(context.Context) (*deploy.Memory, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened++
	return c.memory, c.err
}

func (c *cluster) Remove(ctx context.Context, req buildanddeploy.RemoveRequest) ([]model.ManifestName, error) {
	if req.Settled != nil {
		if err := req.Settled(ctx); err != nil {
			return nil, err
		}
	}
	if req.Undeclared && slices.ContainsFunc(req.Declared(), func(m model.Manifest) bool { return m.Name == req.Resource && m.IsK8s() }) {
		return nil, nil
	}
	logstore.Infof(req.Log, "Deleting %s, %s", req.Resource, req.Why)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(req.Enough, cancel)()
	return c.bereft, c.remove(ctx, req.Resource)
}

func (c *cluster) remove(ctx context.Context, name model.ManifestName) error {
	c.mu.Lock()
	c.removed = append(c.removed, string(name))
	err, stuck := c.err, c.stuck[name]
	c.mu.Unlock()
	if stuck != nil {
		select {
		case <-stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err != nil {
		return err
	}
	return c.memory.Remove(name)
}

func (c *cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// log returns the objects that were removed so far.
func (c *cluster) log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.removed, " ")
}

func ledgerWith(t *testing.T, recorded ...model.ManifestName) *deploy.Memory {
	memory := &deploy.Memory{Ledger: ledgertest.Open(t, t.TempDir(), ledger.Key{Cluster: "c", Project: "p"})}
	for _, name := range recorded {
		if err := memory.Record(name, []ledger.Record{{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: string(name)}, APIVersion: "v1"}}); err != nil {
			t.Fatal(err)
		}
	}
	return memory
}
