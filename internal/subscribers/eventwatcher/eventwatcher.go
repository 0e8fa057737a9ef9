// Package eventwatcher writes what Kubernetes has to say about a resource's objects into the resource's log.
package eventwatcher

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/logstore"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/internal/task"
	"github.com/hone-dev/hone/pkg/model"
)

// waitForOwner is for how long an event is kept whose pod has not been seen yet.
const waitForOwner = 30 * time.Second

// Client is the part of a cluster that is needed here.
type Client interface {
	WatchEvents(ctx context.Context, req k8s.WatchRequest, fn func(k8s.KubeEvent)) error
}

// Subscriber is the EventWatcher. Run owns one goroutine per namespace that resources applied objects in.
type Subscriber struct {
	client Client
	logs   *logstore.Store
	now    func() time.Time
}

// New returns the subscriber; a nil client watches nothing.
func New(client Client, logs *logstore.Store) *Subscriber {
	return &Subscriber{client: client, logs: logs, now: time.Now}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "EventWatcher",
		Doc:       "Writes the warnings that Kubernetes has about a resource's objects into the resource's log.",
		Inputs:    store.Reads(state.Sessions, state.Updates, state.Pods),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	events := make(chan k8s.KubeEvent, 64)
	same := func(a, b struct{}) bool { return true }
	watches := task.NewSet(ctx, same, func(ctx context.Context, namespace string, _ struct{}) {
		_ = s.client.WatchEvents(ctx, k8s.WatchRequest{Namespaces: []string{namespace}}, func(e k8s.KubeEvent) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
	})
	defer watches.Stop()
	var pending []k8s.KubeEvent
	news := thinning{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			watches.Reconcile(namespaces(rt.View()))
		case e := <-events:
			if e.Synced || !e.Warning() || !e.LastSeen.After(state.TheSession(rt.View()).StartedAt.Add(-time.Second)) || !news.pass(e) {
				continue
			}
			pending = append(pending, e)
		}
		pending = s.tell(rt.View(), pending)
		rt.Succeeded()
	}
}

// thinning says, by UID, how often an event must have happened to be told of again. Kubernetes repeats itself: a container
// that cannot start leads to the same event every second.
type thinning map[string]int

// remembered bounds how many events are known; an hour of a large cluster's is less.
const remembered = 10_000

// pass reports whether an event is news: the first time, and whenever it has happened twice as often as last told.
func (t thinning) pass(e k8s.KubeEvent) bool {
	if e.Count < t[e.UID] {
		return false
	}
	if len(t) >= remembered {
		clear(t)
	}
	t[e.UID] = 2 * max(e.Count, 1)
	return true
}

// tell writes the events whose resource is known and returns those that are to wait for theirs.
func (s *Subscriber) tell(v store.View, events []k8s.KubeEvent) []k8s.KubeEvent {
	if len(events) == 0 {
		return nil
	}
	owners := owners(v)
	var rest []k8s.KubeEvent
	for _, e := range events {
		name, ok := owners[e.ObjectUID]
		switch {
		case ok:
			s.write(name, e)
		case s.now().Sub(e.LastSeen) < waitForOwner:
			rest = append(rest, e)
		}
	}
	return rest
}

func (s *Subscriber) write(name model.ManifestName, e k8s.KubeEvent) {
	text := fmt.Sprintf("[event: %s %s/%s] %s", strings.ToLower(e.Object.Kind), e.Object.Namespace, e.Object.Name, e.Message)
	if e.Count > 1 {
		text += fmt.Sprintf(" (×%d)", e.Count)
	}
	s.logs.Append(logstore.Entry{Time: e.LastSeen, Resource: name, Span: "events:" + string(name),
		Source: logstore.SourceRuntime, Level: logstore.LevelWarn, Text: text})
}

func namespaces(v store.View) map[string]struct{} {
	out := map[string]struct{}{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			if a.Namespace != "" {
				out[a.Namespace] = struct{}{}
			}
		}
	}
	return out
}

// owners maps the UIDs of applied objects, of pods, and of the controllers between them to resources.
func owners(v store.View) map[string]model.ManifestName {
	out := map[string]model.ManifestName{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			out[a.UID] = model.ManifestName(e.ID)
		}
	}
	for e := range state.Pods.In(v).Refs() {
		out[e.ID] = e.Value.Resource
		if e.Value.Owner != "" {
			out[e.Value.Owner] = e.Value.Resource
		}
	}
	return out
}
