// Package eventwatcher writes what Kubernetes has to say about a resource's objects into the resource's log.
package eventwatcher

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
		Doc:       "Writes what Kubernetes warns of about a resource's objects into the resource's log, and which watches do not work.",
		Inputs:    store.Reads(state.Sessions, state.Updates, state.Pods, state.ClusterWatches),
		Outputs:   store.Shares(state.ClusterWatchFailed{}, state.ClusterWatchMended{}),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "how its own watches do is told like that of others, and changes none of them",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	events, troubles := make(chan k8s.KubeEvent, 64), make(chan trouble)
	same := func(a, b struct{}) bool { return true }
	watches := task.NewSet(ctx, same, func(ctx context.Context, namespace string, _ struct{}) {
		_ = s.client.WatchEvents(ctx, k8s.WatchRequest{Namespaces: []string{namespace}, OnTrouble: func(err error) {
			select {
			case troubles <- trouble{namespace, err}:
			case <-ctx.Done():
			}
		}}, func(e k8s.KubeEvent) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
	})
	defer watches.Stop()
	var pending []k8s.KubeEvent
	news := thinning{}
	failing := state.WatchTroubles[string]{ID: func(namespace string) string { return "events " + namespace }}
	said := map[string]state.ClusterWatch{}
	var users map[string][]model.ManifestName
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			users = namespaces(rt.View())
			watches.Reconcile(task.Keys(users))
			s.sayWatches(rt.View(), said)
		case t := <-troubles:
			failing.Take(t.namespace, t.err)
		case e := <-events:
			if e.Synced || !e.Warning() || !e.LastSeen.After(state.TheSession(rt.View()).StartedAt.Add(-time.Second)) || !news.pass(e) {
				continue
			}
			pending = append(pending, e)
		}
		pending = s.tell(rt.View(), pending)
		rt.Dispatch(failing.Changes(users)...)
		rt.Succeeded()
	}
}

// trouble is why the events of a namespace cannot be watched, nil when they can again.
type trouble struct {
	namespace string
	err       error
}

// sayWatches writes into the resources' logs which watches do not work, and which do so again. said is what has been
// written, by id.
func (s *Subscriber) sayWatches(v store.View, said map[string]state.ClusterWatch) {
	rows := state.ClusterWatches.In(v)
	for e := range rows.Entries() {
		was := said[e.ID]
		for _, name := range e.Value.Resources {
			if was.Problem != e.Value.Problem || !slices.Contains(was.Resources, name) {
				s.say(name, logstore.LevelWarn, e.Value.Problem.Text())
			}
		}
		said[e.ID] = e.Value
	}
	for _, id := range slices.Sorted(maps.Keys(said)) {
		if _, failing := rows.Get(id); failing {
			continue
		}
		what := strings.TrimPrefix(said[id].Problem.Summary, "cannot watch ")
		for _, name := range said[id].Resources {
			if state.Updates.In(v).Ref(string(name)) != nil {
				s.say(name, logstore.LevelInfo, "can watch "+what+" again")
			}
		}
		delete(said, id)
	}
}

func (s *Subscriber) say(name model.ManifestName, level logstore.Level, text string) {
	s.logs.Append(logstore.Entry{Time: s.now(), Resource: name, Span: "events:" + string(name), Source: logstore.SourceRuntime,
		Level: level, Text: text})
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

// namespaces returns where there are objects, and whose.
func namespaces(v store.View) map[string][]model.ManifestName {
	out := map[string][]model.ManifestName{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			if a.Namespace != "" {
				out[a.Namespace] = append(out[a.Namespace], model.ManifestName(e.ID))
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
