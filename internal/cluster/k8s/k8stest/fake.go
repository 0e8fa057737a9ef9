package k8stest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// ExecFunc emulates the processes of containers. Its result is the result of k8s.Interface.Exec.
type ExecFunc func(ctx context.Context, req k8s.ExecRequest) error

// DialFunc emulates the servers on the ports of pods. It returns the function that serves a connection, or nil where
// nothing listens. The connection is closed when that function returns.
type DialFunc func(pod string, port int) func(net.Conn)

// Fake is a cluster in memory. The zero value is not usable; use New.
type Fake struct {
	pods     *feed[k8s.PodEvent]
	services *feed[k8s.ServiceEvent]
	events   *feed[k8s.KubeEvent]

	mu       sync.Mutex
	cluster  model.Cluster                           // guarded by mu
	down     bool                                    // guarded by mu
	since    time.Time                               // guarded by mu; when down was set
	exec     ExecFunc                                // guarded by mu
	dial     DialFunc                                // guarded by mu
	execs    []k8s.ExecRequest                       // guarded by mu
	logs     map[logKey]*logText                     // guarded by mu
	owners   map[string]ownerEntry                   // guarded by mu; by UID
	objects  map[objectKind]*feed[k8s.ObjectEvent]   // guarded by mu
	metadata map[objectKind]*feed[k8s.MetadataEvent] // guarded by mu
	gone     map[string]chan struct{}                // guarded by mu; by "namespace/name" of a pod, closed when it ends

	wg      sync.WaitGroup
	closing chan struct{}
	once    sync.Once
}

type ownerEntry struct {
	ref    k8s.OwnerRef
	parent string // UID
}

type objectKind struct{ apiVersion, kind string }

// New returns an empty cluster called "fake" whose namespace is "default".
func New() *Fake {
	return &Fake{
		pods: newFeed(func() k8s.PodEvent { return k8s.PodEvent{Synced: true} },
			func(e k8s.PodEvent) k8s.PodEvent { e.Deleted = true; return e }),
		services: newFeed(func() k8s.ServiceEvent { return k8s.ServiceEvent{Synced: true} },
			func(e k8s.ServiceEvent) k8s.ServiceEvent { e.Deleted = true; return e }),
		events: newFeed(func() k8s.KubeEvent { return k8s.KubeEvent{Synced: true} }, nil),
		cluster: model.Cluster{
			Context: "fake", Name: "fake", Server: "https://fake.invalid", Namespace: "default", Product: model.ProductKIND,
			Version: "v1.34.4", Arch: "amd64", Nodes: 1, Runtime: "containerd",
		},
		logs:     map[logKey]*logText{},
		owners:   map[string]ownerEntry{},
		objects:  map[objectKind]*feed[k8s.ObjectEvent]{},
		metadata: map[objectKind]*feed[k8s.MetadataEvent]{},
		gone:     map[string]chan struct{}{},
		closing:  make(chan struct{}),
	}
}

// SetCluster sets the cluster that Detect and Cluster return.
func (f *Fake) SetCluster(c model.Cluster) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cluster = c
}

// SetDown sets whether the cluster is down. While it is down, requests fail as on a cluster that does not answer.
// Watches report nothing meanwhile, and catch up afterwards.
func (f *Fake) SetDown(down bool) {
	f.mu.Lock()
	if down && !f.down {
		f.since = time.Now()
	}
	f.down = down
	f.mu.Unlock()
	for _, g := range f.feeds() {
		g.pause(down)
	}
}

// Forbid makes watches of pods, services or events fail until Allow, as if the user lacked the permission. The
// namespace appears in the problem.
func (f *Fake) Forbid(resource, namespace string) {
	kind := schema.GroupResource{Resource: resource}
	said := fmt.Sprintf("User %q cannot list resource %q", "dev", resource) // the wording of Kubernetes
	f.watched(resource).refuse(k8s.CannotWatch(apierrors.NewForbidden(kind, "", errors.New(said)), kind, namespace))
}

// Allow ends the effect of Forbid.
func (f *Fake) Allow(resource string) { f.watched(resource).refuse(nil) }

func (f *Fake) watched(resource string) interface{ refuse(error) } {
	switch resource {
	case "pods":
		return f.pods
	case "services":
		return f.services
	case "events":
		return f.events
	}
	panic("k8stest: no watch of " + resource)
}

func (f *Fake) feeds() []interface{ pause(bool) } {
	out := []interface{ pause(bool) }{f.pods, f.services, f.events}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		out = append(out, o)
	}
	for _, o := range f.metadata {
		out = append(out, o)
	}
	return out
}

// up returns the problem of a cluster that does not answer, or nil.
func (f *Fake) up() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.down {
		return nil
	}
	return problem.Wrap(&k8s.Unreachable{Cause: errors.New("connection refused")},
		fmt.Sprintf("cluster %q (%s) does not answer", f.cluster.Context, f.cluster.Server), "Start it.")
}

// Cluster implements k8s.Interface.
func (f *Fake) Cluster() model.Cluster {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.cluster
	return model.Cluster{Context: c.Context, Name: c.Name, Server: c.Server, Namespace: c.Namespace, Product: c.Product}
}

// Detect implements k8s.Interface.
func (f *Fake) Detect(ctx context.Context) (model.Cluster, error) {
	if err := errors.Join(ctx.Err(), f.up()); err != nil {
		return f.Cluster(), err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cluster, nil
}

// Healthy implements k8s.Interface.
func (f *Fake) Healthy(ctx context.Context) error { return errors.Join(ctx.Err(), f.up()) }

// Alive implements k8s.Interface.
func (f *Fake) Alive(ctx context.Context) error { return errors.Join(ctx.Err(), f.up()) }

// Stuck implements k8s.Interface.
func (f *Fake) Stuck() time.Duration { return 0 }

// Renew implements k8s.Interface.
func (f *Fake) Renew(ctx context.Context) error { return f.Alive(ctx) }

// Quiet implements k8s.Interface: a cluster that is not down is heard all the time.
func (f *Fake) Quiet() (d time.Duration, pinged bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.down {
		return 0, true
	}
	return time.Since(f.since), true
}

// OnExec sets the function that runs the commands. Without it no container has any command.
func (f *Fake) OnExec(fn ExecFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exec = fn
}

// Execs returns the commands that were run so far, in order. The streams are left out.
func (f *Fake) Execs() []k8s.ExecRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.execs)
}

// Exec implements k8s.Interface.
func (f *Fake) Exec(ctx context.Context, req k8s.ExecRequest) error {
	if len(req.Argv) == 0 {
		return errors.New("exec: no command given")
	}
	if err := f.reach(ctx, req.Namespace, req.Pod); err != nil {
		return fmt.Errorf("exec in pod %s/%s: %w", f.namespace(req.Namespace), req.Pod, err)
	}
	f.mu.Lock()
	fn := f.exec
	noted := req
	noted.Stdin, noted.Stdout, noted.Stderr = nil, nil, nil
	f.execs = append(f.execs, noted)
	f.mu.Unlock()
	if fn == nil {
		return &k8s.ExitError{Code: 127, Message: "executable file not found in $PATH"}
	}
	err := fn(ctx, req)
	if ctx.Err() != nil {
		return fmt.Errorf("exec in pod %s/%s: %w", f.namespace(req.Namespace), req.Pod, ctx.Err())
	}
	return err
}

// reach returns why a pod cannot be reached, or nil.
func (f *Fake) reach(ctx context.Context, namespace, pod string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.up(); err != nil {
		return err
	}
	if _, ok := f.pods.get(f.namespace(namespace) + "/" + pod); !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, pod)
	}
	return nil
}

func (f *Fake) namespace(ns string) string {
	if ns != "" {
		return ns
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cluster.Namespace
}

// Close implements k8s.Interface: it closes the connections of DialPod and waits for their handlers.
func (f *Fake) Close() error {
	f.once.Do(func() { close(f.closing) })
	f.wg.Wait()
	return nil
}

var _ k8s.Interface = (*Fake)(nil)
