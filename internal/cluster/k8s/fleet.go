package k8s

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/pkg/model"
)

// Fleet is the clusters of a session: its own, and those that the Tiltfile declares. Each request goes to the cluster that it names. A
// client is opened at its first use. Fleet is safe for use by several goroutines.
type Fleet struct {
	own  *Client
	open func(context string) (*Client, error)

	mu    sync.Mutex
	other map[string]*Client // by context; guarded by mu
}

// NewFleet returns the clusters of a session. own is nil for a session without a kubeconfig. open returns the client of another context,
// and keeps its ownership; it need not reach the cluster, and is called again after an error.
func NewFleet(own *Client, open func(context string) (*Client, error)) *Fleet {
	return &Fleet{own: own, open: open, other: map[string]*Client{}}
}

// On returns the client of a cluster, which is named as in model.K8sTarget. An error is a problem.
func (f *Fleet) On(cluster string) (*Client, error) {
	if cluster == "" {
		if f.own == nil {
			return nil, problem.New("there is no cluster: no kubeconfig was found", "set KUBECONFIG, or choose a cluster with --context").See("clusters")
		}
		return f.own, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.other[cluster]; c != nil {
		return c, nil
	}
	c, err := f.open(cluster)
	if err != nil {
		return nil, err
	}
	f.other[cluster] = c
	return c, nil
}

// WatchPods is as in Client, like the other methods.
func (f *Fleet) WatchPods(ctx context.Context, req WatchRequest, fn func(PodEvent)) error {
	return f.watch(ctx, req, func(c *Client) error { return c.WatchPods(ctx, req, fn) })
}

// WatchServices is as in Client.
func (f *Fleet) WatchServices(ctx context.Context, req WatchRequest, fn func(ServiceEvent)) error {
	return f.watch(ctx, req, func(c *Client) error { return c.WatchServices(ctx, req, fn) })
}

// WatchEvents is as in Client.
func (f *Fleet) WatchEvents(ctx context.Context, req WatchRequest, fn func(KubeEvent)) error {
	return f.watch(ctx, req, func(c *Client) error { return c.WatchEvents(ctx, req, fn) })
}

// WatchObjects is as in Client.
func (f *Fleet) WatchObjects(ctx context.Context, apiVersion, kind string, req WatchRequest, fn func(ObjectEvent)) error {
	return f.watch(ctx, req, func(c *Client) error { return c.WatchObjects(ctx, apiVersion, kind, req, fn) })
}

// WatchMetadata is as in Client.
func (f *Fleet) WatchMetadata(ctx context.Context, apiVersion, kind, manager string, req WatchRequest, fn func(MetadataEvent)) error {
	return f.watch(ctx, req, func(c *Client) error { return c.WatchMetadata(ctx, apiVersion, kind, manager, req, fn) })
}

// watch watches in the cluster that a request names. While its client cannot be opened, the watch has that trouble.
func (f *Fleet) watch(ctx context.Context, req WatchRequest, watch func(*Client) error) error {
	pause, failed := retry.Backoff{First: time.Second, Most: time.Minute}, false
	for {
		c, err := f.On(req.Cluster)
		if err == nil {
			if failed && req.OnTrouble != nil {
				req.OnTrouble(nil)
			}
			return watch(c)
		}
		if failed = true; req.OnTrouble != nil {
			req.OnTrouble(err)
		}
		if !pause.Sleep(ctx) {
			return context.Cause(ctx)
		}
	}
}

// OwnerChain is as in Client.
func (f *Fleet) OwnerChain(ctx context.Context, req OwnerRequest) ([]OwnerRef, error) {
	c, err := f.On(req.Cluster)
	if err != nil {
		return nil, err
	}
	return c.OwnerChain(ctx, req)
}

// Exec is as in Client.
func (f *Fleet) Exec(ctx context.Context, req ExecRequest) error {
	c, err := f.On(req.Cluster)
	if err != nil {
		return err
	}
	return c.Exec(ctx, req)
}

// Logs is as in Client.
func (f *Fleet) Logs(ctx context.Context, req LogRequest) (io.ReadCloser, error) {
	c, err := f.On(req.Cluster)
	if err != nil {
		return nil, err
	}
	return c.Logs(ctx, req)
}

// RemovePod is as in Client.
func (f *Fleet) RemovePod(ctx context.Context, req RemovePodRequest) error {
	c, err := f.On(req.Cluster)
	if err != nil {
		return err
	}
	return c.RemovePod(ctx, req)
}

// Ephemeral is as in Client.
func (f *Fleet) Ephemeral(ctx context.Context, req EphemeralRequest) (string, error) {
	c, err := f.On(req.Cluster)
	if err != nil {
		return "", err
	}
	return c.Ephemeral(ctx, req)
}

// ObjectYAML is as in Client.
func (f *Fleet) ObjectYAML(ctx context.Context, o model.AppliedObject) (string, error) {
	c, err := f.On(o.Cluster)
	if err != nil {
		return "", err
	}
	return c.ObjectYAML(ctx, o)
}

// PreviousLog is as in Client.
func (f *Fleet) PreviousLog(ctx context.Context, of model.ContainerRef) ([]string, error) {
	c, err := f.On(of.Cluster)
	if err != nil {
		return nil, err
	}
	return c.PreviousLog(ctx, of)
}
