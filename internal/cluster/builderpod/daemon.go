package builderpod

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// Options configure a Daemon.
type Options struct {
	Kube *k8s.Client
	// Deploy applies the objects of a resource, and returns those that it has applied.
	Deploy func(ctx context.Context, m model.Manifest, namespace string) ([]model.AppliedObject, error)
	Pod    model.BuilderPod
	// Replica is the number of the replica, beginning at zero.
	Replica int
	// Namespace is the one of the session, for a pod without one of its own.
	Namespace string
}

// Daemon is a replica of a builder of a namespace, the one with some settings. Construct it with New, and Close it.
type Daemon struct {
	kube      *k8s.Client
	deploy    func(ctx context.Context, m model.Manifest, namespace string) ([]model.AppliedObject, error)
	is        replica
	namespace string

	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu sync.Mutex
	// start is the attempt that brings the pod up now; nil for none. Guarded by mu, as everything below.
	start  *start
	status string // the thing that the start waits for
	// known is the pod that has the daemon: the newest start has found it, and no connection to it has ended by itself. Empty for none.
	known string
	plan  Plan // of the newest start that has succeeded
}

// start is an attempt to bring the pod up. pod and err are valid once done is closed.
type start struct {
	done chan struct{}
	pod  string
	err  error
}

// New returns the replica of the builder of a namespace that has the settings. It touches nothing before the first Dial.
func New(o Options) *Daemon {
	namespace, pod := cmp.Or(o.Pod.Namespace, o.Namespace, "default"), o.Pod
	if pod.Registry {
		pod.Config += fmt.Sprintf("\n[registry.%q]\n  http = true\n", model.KeptRegistry(namespace, pod.RegistryPod).Host)
		pod.RegistryPod = model.RegistryPod{} // it is not about the builder
	}
	d := &Daemon{kube: o.Kube, deploy: o.Deploy, is: replicaOf(pod, o.Replica), namespace: namespace}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Namespace is where the builder is.
func (d *Daemon) Namespace() string { return d.namespace }

// Name is the name of its Deployment.
func (d *Daemon) Name() string { return d.is.name }

// String says how the builder runs: "rootless (user namespace: no node supports it)". It is empty before the first connection.
func (d *Daemon) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.plan.String()
}

// Close ends the attempt to bring the pod up. The pod stays.
func (d *Daemon) Close() error {
	d.cancel()
	d.all.Wait()
	return nil
}

// Dial brings the pod up if it is not there, and connects to its daemon. Where ctx is done first, the error names the thing that the pod waits
// for, and the start goes on. ended receives the error of the end of the connection, if there is one.
func (d *Daemon) Dial(ctx context.Context, ended func(error)) (net.Conn, error) {
	pod, starting, err := d.ready(ctx)
	switch {
	case err != nil:
		return nil, err
	case starting != "":
		return nil, errors.New(starting)
	}
	near, far := net.Pipe()
	live, cancel := context.WithCancel(d.ctx)
	d.all.Go(func() {
		err := d.kube.Exec(live, k8s.ExecRequest{Namespace: d.namespace, Pod: pod, Container: container, Argv: buildctl("dial-stdio"), Stdin: far, Stdout: far, Quick: true})
		if live.Err() == nil {
			d.lost(pod)
			ended(cmp.Or(err, errEnded))
		}
		_ = far.Close()
	})
	return connection{near, cancel}, nil
}

// errEnded is the error of a connection that the daemon has ended.
var errEnded = errors.New("the builder has ended the connection")

// connection is the near end of a connection.
type connection struct {
	net.Conn
	cancel context.CancelFunc
}

// Close implements net.Conn.
func (c connection) Close() error {
	c.cancel()
	return c.Conn.Close()
}

// lost notes that the connection to a pod has ended by itself: the next one asks for the pod again.
func (d *Daemon) lost(pod string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == pod {
		d.known = ""
	}
}

// Ready brings the pod up if it is not there. Where ctx is done first, starting names the thing that the pod waits for, and the start goes on.
func (d *Daemon) Ready(ctx context.Context) (starting string, err error) {
	_, starting, err = d.ready(ctx)
	return starting, err
}

// ready is Ready with the name of the pod.
func (d *Daemon) ready(ctx context.Context) (pod, starting string, err error) {
	d.mu.Lock()
	if pod := d.known; pod != "" {
		d.mu.Unlock()
		return pod, "", nil
	}
	s := d.start
	if s == nil {
		s = &start{done: make(chan struct{})}
		d.start, d.status = s, "the cluster is asked which mode it admits"
		d.all.Go(func() {
			s.pod, s.err = d.bring(d.ctx)
			d.mu.Lock()
			d.start, d.known = nil, s.pod
			d.mu.Unlock()
			close(s.done)
		})
	}
	d.mu.Unlock()
	select {
	case <-s.done:
		return s.pod, "", s.err
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		return "", d.status, nil
	}
}

// says notes the thing that the start waits for.
func (d *Daemon) says(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status = fmt.Sprintf(format, args...)
}
