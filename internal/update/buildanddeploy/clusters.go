package buildanddeploy

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Clusters are the clusters of a session: its own, and those that the Tiltfile declares. Each keeps its own ledger. A resource is deployed
// to one of them, so that the others need not answer. Clusters are named as in model.K8sTarget. Clusters is safe for concurrent use.
type Clusters struct {
	own  *Cluster
	open func(ctx context.Context, on string) (*Cluster, error)

	mu    sync.Mutex
	other map[string]*Cluster // guarded by mu
	// declared and read are of the newest evaluation, for the clusters that are opened later; guarded by mu.
	declared []model.Manifest
	read     map[string]uint64
}

// NewClusters returns the clusters of a session. open returns a declared cluster, which need not answer; it is called again after an error.
func NewClusters(own *Cluster, open func(ctx context.Context, on string) (*Cluster, error)) *Clusters {
	return &Clusters{own: own, open: open, other: map[string]*Cluster{}}
}

// Own returns the session's own cluster.
func (c *Clusters) Own() *Cluster { return c.own }

// On returns a cluster.
func (c *Clusters) On(ctx context.Context, on string) (*Cluster, error) {
	if on == "" {
		return c.own, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if in := c.other[on]; in != nil {
		return in, nil
	}
	in, err := c.open(ctx, on)
	if err != nil {
		return nil, err
	}
	if c.declared != nil {
		in.Declare(model.DeclaredOn(c.declared, on), c.read)
	}
	in.revisions.changed = c.own.revisions.changed
	c.other[on] = in
	return in, nil
}

// Deploy implements Deployer.
func (c *Clusters) Deploy(ctx context.Context, req Request, images map[string]model.ImageResult) ([]model.AppliedObject, error) {
	on := req.Manifest.Cluster()
	in, err := c.On(ctx, on)
	if err != nil {
		return nil, err
	}
	if declared := req.Declared; declared != nil {
		req.Declared = func() []model.Manifest { return model.DeclaredOn(declared(), on) }
	}
	applied, err := in.Deploy(ctx, req, images)
	for i := range applied {
		applied[i].Cluster = on
	}
	return applied, err
}

var _ Deployer = (*Clusters)(nil)

// Prepare prepares the deployment of resources in one of the clusters, as Cluster.Prepare does.
func (c *Clusters) Prepare(ctx context.Context, on string, manifests []model.Manifest, namespace string) error {
	in, err := c.On(ctx, on)
	if err != nil {
		return err
	}
	return in.Prepare(ctx, manifests, namespace)
}

// Examine is the Examiner that asks the cluster of the containers, all of which belong to one resource.
func (c *Clusters) Examine(ctx context.Context, containers []model.LackingContainer, patient bool) error {
	if len(containers) == 0 {
		return nil
	}
	in, err := c.On(ctx, containers[0].Cluster)
	if err != nil {
		return nil //nolint:nilerr // a cluster that cannot be asked says nothing against the containers
	}
	return in.Examine(ctx, containers, patient)
}

// Differences compares objects of a resource, as Cluster.Differences does.
func (c *Clusters) Differences(ctx context.Context, on string, resource model.ManifestName, objects []model.ObjectID) ([]api.PlanStep, error) {
	in, err := c.On(ctx, on)
	if err != nil {
		return nil, err
	}
	return in.Differences(ctx, resource, objects)
}

// Accept leaves fields of a resource's objects to others, as Cluster.Accept does.
func (c *Clusters) Accept(ctx context.Context, on string, resource model.ManifestName, fields map[model.ObjectID][]string) (map[model.ObjectID][]string, error) {
	in, err := c.On(ctx, on)
	if err != nil {
		return nil, err
	}
	return in.Accept(ctx, resource, fields)
}

// Declare begins the deployment of an evaluation of the Tiltfile in all clusters, as Cluster.Declare does.
func (c *Clusters) Declare(manifests []model.Manifest, read map[string]uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.declared, c.read = manifests, read
	c.own.Declare(model.DeclaredOn(manifests, ""), read)
	for on, in := range c.other {
		in.Declare(model.DeclaredOn(manifests, on), read)
	}
}

// Revisions returns the revisions in all clusters, as Cluster.Revisions does, and Revised is the channel of their changes.
func (c *Clusters) Revisions() []api.Revision {
	out := c.own.Revisions()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.other) > 0 {
		out = slices.Clone(out)
	}
	for _, on := range slices.Sorted(maps.Keys(c.other)) {
		for _, r := range c.other[on].Revisions() {
			r.Cluster = on
			out = append(out, r)
		}
	}
	return out
}

// Revised returns a channel that receives a value after the revisions have changed.
func (c *Clusters) Revised() <-chan struct{} { return c.own.Revised() }
