// Package portforwardcontroller keeps a local port open for every port forward of every resource, and directs its
// connections to the right pod.
//
// # Concurrency
//
// Run owns one goroutine per open port.
package portforwardcontroller

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "PortForwardController"
	// retryListen is the pause before a port that another process holds is tried again.
	retryListen = 2 * time.Second
	// failingAfter is the time for which a forward must fail before it counts as failed: an app that restarts is
	// back earlier.
	failingAfter = time.Second
)

// Subscriber is the PortForwardController.
type Subscriber struct {
	dialer func(cluster string) portforward.Dialer
	host   string
	logs   *logstore.Store
	retry  time.Duration
	opener portforward.Opener
	// failing is failingAfter, or a shorter time in tests.
	failing time.Duration
}

// New returns the subscriber. Ports are opened on host unless a forward names another one. dialer returns the way to the pods of a cluster;
// if it is nil, no port is opened.
func New(dialer func(cluster string) portforward.Dialer, host string, logs *logstore.Store) *Subscriber {
	return &Subscriber{dialer: dialer, host: host, logs: logs, retry: retryListen, failing: failingAfter}
}

// OpenWith sets the opener of ports, which can identify the process that holds a port. Call it before Run.
func (s *Subscriber) OpenWith(o portforward.Opener) *Subscriber {
	s.opener = o
	return s
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      name,
		Doc:       "Keeps a local port open for each port forward of each resource, to whichever pod is current.",
		Inputs:    append(store.Holds(state.Resources), store.Reads(state.Pods)...),
		Outputs:   store.Emits(state.ForwardChanged{}, state.ForwardClosed{}),
		Externals: []string{"sockets", "kubernetes"},
		Stage:     store.StageController,
	}
}

// port is one port forward of one resource.
type port struct {
	resource model.ManifestName
	cluster  string
	spec     model.PortForward
}

func (p port) id() string {
	if p.spec.Host != "" {
		return fmt.Sprintf("%s/%s", p.resource, net.JoinHostPort(p.spec.Host, strconv.Itoa(p.spec.LocalPort)))
	}
	return fmt.Sprintf("%s/%d", p.resource, p.spec.LocalPort)
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	targets := &targets{current: map[port]*portforward.Target{}, forwards: map[port]*portforward.Forward{}, staying: map[string]bool{}}
	same := func(a, b port) bool { return a == b }
	ports := workers.NewSet(ctx, same, func(ctx context.Context, _ port, p port) { s.keepOpen(ctx, rt, targets, p) })
	defer ports.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		}
		v := rt.View()
		want := map[port]port{}
		if s.dialer != nil {
			want = desired(v)
		}
		targets.set(v, want)
		ports.Reconcile(want)
		for _, e := range state.Leaving(v, name) {
			rt.Release(state.Resources, e.ID)
		}
		rt.Succeeded()
	}
}

func desired(v store.View) map[port]port {
	out := map[port]port{}
	for e := range state.Enabled(v) {
		m := e.Value.Manifest
		if e.Phase == store.TearingDown || !m.IsK8s() {
			continue
		}
		for _, spec := range m.K8s.PortForwards {
			p := port{m.Name, m.Cluster(), spec}
			out[p] = p
		}
	}
	return out
}

// keepOpen opens the port, retrying while another process holds it, and serves it until ctx is done.
func (s *Subscriber) keepOpen(ctx context.Context, rt *store.Runtime, targets *targets, p port) {
	defer rt.Dispatch(state.ForwardClosed{ID: p.id()})
	host := cmp.Or(p.spec.Host, s.host)
	f := state.Forward{Resource: p.resource, Spec: p.spec, Address: net.JoinHostPort(host, strconv.Itoa(p.spec.LocalPort)), URL: url(host, p.spec)}
	log := s.logs.Logger(p.resource, "forward:"+p.id(), logstore.SourceRuntime)
	told := ""
	for {
		l, err := s.opener.Listen(host, p.spec.LocalPort)
		if err == nil {
			s.serve(ctx, rt, targets, p, l, f)
			return
		}
		if text := problem.Text(err); text != told {
			logstore.Errorf(log, "%s", text)
			told = text
		}
		f.State, f.Err = state.ForwardFailed, err.Error()
		rt.Dispatch(state.ForwardChanged{ID: p.id(), Forward: f})
		if !retry.Sleep(ctx, s.retry) {
			return
		}
	}
}

func (s *Subscriber) serve(ctx context.Context, rt *store.Runtime, targets *targets, p port, l net.Listener, f state.Forward) {
	told := narrator{log: s.logs.Logger(p.resource, "forward:"+p.id(), logstore.SourceRuntime), port: f.Address, after: s.failing,
		news: make(chan portforward.Status), report: func(st portforward.Status, is state.ForwardState) {
			f := f
			f.State, f.Err = is, st.Message
			if st.Target != nil {
				f.Pod = fmt.Sprintf("%s/%s:%d", st.Target.Namespace, st.Target.Pod, st.Target.Port)
			}
			rt.Dispatch(state.ForwardChanged{ID: p.id(), Forward: f})
		}}
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() { told.run(ctx) })
	defer telling.Wait()
	defer cancel()
	forward := portforward.New(l, s.dialer(p.cluster), portforward.Options{Leaving: targets.leaving, OnChange: func(st portforward.Status) { told.take(ctx, st) }})
	targets.open(p, forward)
	defer targets.closed(p)
	_ = forward.Run(ctx)
}

var states = map[portforward.State]state.ForwardState{
	portforward.StateWaiting: state.ForwardWaiting, portforward.StateReady: state.ForwardReady, portforward.StateError: state.ForwardFailed,
}

// url returns the address of a forward for a browser. Wildcard hosts are reached by the name of this machine.
func url(host string, spec model.PortForward) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	path := spec.LinkPath
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(spec.LocalPort)) + cmp.Or(path, "/")
}
