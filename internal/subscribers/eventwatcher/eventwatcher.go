// Package eventwatcher records Kubernetes' events about a resource's objects, and writes the events that people should
// see to the resource's log: warnings, image pulls, failing probes, and the progress of slow rollouts.
package eventwatcher

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/clusterwatch"
	"github.com/hone-dev/hone/pkg/model"
)

// waitForOwner is the time for which an event is kept whose pod has not been seen yet, or is not known to belong to the
// newest update.
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
		Doc:       "Records Kubernetes' events about a resource's objects, and writes to the resource's log: warnings, pulled images, failing probes, slow rollouts, and watches that do not work.",
		Inputs:    store.Reads(state.Sessions, state.Tiltfiles, state.Clusters, state.Resources, state.Updates, state.Pods, state.Objects, state.ClusterWatches),
		Outputs:   append(store.Shares(state.ClusterWatchFailed{}, state.ClusterWatchMended{}), store.Emits(state.ProbeFailed{}, state.KubeEventsSeen{}, state.ImagePulled{})...),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "the state of its own watches is reported like that of others, and changes none of them; the answer of a probe is only recorded with its pod, and events are only recorded, those about refused pods with their resource, too",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	watches := clusterwatch.Watches[scope, k8s.KubeEvent]{ID: scope.String, Watch: s.watch}
	return clusterwatch.Run(ctx, rt, watches, &follower{Subscriber: s, reporter: newReporter(s.say, s.now), recorder: newRecorder(s.now), owners: newOwners(), said: map[string]state.ClusterWatch{}})
}

// scope is a namespace of a cluster.
type scope struct{ cluster, namespace string }

// String names the watch.
func (sc scope) String() string { return "events " + sc.namespace + clusterwatch.In(sc.cluster) }

func (s *Subscriber) watch(ctx context.Context, sc scope, trouble func(error), event func(k8s.KubeEvent)) error {
	return s.client.WatchEvents(ctx, k8s.WatchRequest{Cluster: sc.cluster, Namespaces: []string{sc.namespace}, OnTrouble: trouble}, event)
}

// follower passes events to the reporter and the recorder.
type follower struct {
	*Subscriber
	reporter *reporter
	recorder *recorder
	owners   *owners
	// wanted are the watches for the applied and the expected objects.
	applied  *state.AppliedSet
	expected *state.ExpectedSet
	wanted   map[scope][]model.ManifestName
	// said are the failing watches that the logs have reported, by id.
	said map[string]state.ClusterWatch
	// since is the beginning of the session.
	since time.Time
}

// Wanted implements clusterwatch.Follower.
func (f *follower) Wanted(v store.View) map[scope][]model.ManifestName {
	f.since = state.TheSession(v).StartedAt.Add(-time.Second) // events have whole seconds
	f.sayWatches(v, f.said)
	if set, soon := state.Applied(v), state.Expected(v); set != f.applied || soon != f.expected {
		f.applied, f.expected, f.wanted = set, soon, namespaces(set, soon)
	}
	return f.wanted
}

// Take implements clusterwatch.Follower.
func (f *follower) Take(_ scope, e k8s.KubeEvent) bool {
	if e.Synced {
		return false
	}
	f.recorder.take(e)
	if worthTelling(e) && e.LastSeen.After(f.since) {
		f.reporter.take(e)
	}
	return true
}

// Changes implements clusterwatch.Follower.
func (f *follower) Changes(_ context.Context, v store.View) ([]store.Action, time.Duration) {
	f.owners.follow(v)
	probes, soon := f.reporter.tell(v, f.owners.names)
	seen, later := f.recorder.record(f.owners.names)
	return append(probes, seen...), soonest(soon, later)
}

// sayWatches writes to the resources' logs which watches do not work, and which work again. said holds the states that
// were written, by id.
func (s *Subscriber) sayWatches(v store.View, said map[string]state.ClusterWatch) {
	rows := state.ClusterWatches.In(v)
	for e := range rows.Refs() {
		was := said[e.ID]
		for _, name := range e.Value.Resources {
			if was.Problem != e.Value.Problem || !slices.Contains(was.Resources, name) {
				s.say(name, logstore.LevelWarn, e.Value.Problem.Text())
			}
		}
		said[e.ID] = e.Value
	}
	for _, id := range slices.Sorted(maps.Keys(said)) {
		if rows.Ref(id) != nil {
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

// namespaces returns the namespaces of applied objects, with the resources that own them, and of expected ones.
func namespaces(set *state.AppliedSet, soon *state.ExpectedSet) map[scope][]model.ManifestName {
	out := map[scope][]model.ManifestName{}
	for _, k := range soon.Kinds {
		out[scope{k.Cluster, k.Namespace}] = nil
	}
	for _, by := range set.Of {
		for _, a := range by.Objects {
			if a.Namespace != "" {
				sc := scope{a.Cluster, a.Namespace}
				out[sc] = append(out[sc], by.Resource)
			}
		}
	}
	return out
}
