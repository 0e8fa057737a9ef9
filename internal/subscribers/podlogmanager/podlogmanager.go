// Package podlogmanager keeps one log stream per container run, and writes its lines to the log store.
//
// # Concurrency
//
// Run owns one goroutine per container run that has lines to read.
package podlogmanager

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/workers"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/podlogs"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	name = "PodLogManager"
	// lastLines bounds the wait, at the end of the session, for the logs of containers that have ended.
	lastLines = 3 * time.Second
	// fewStreams is the number of streams up to which a silent connection is replaced after podlogs.StallMax. With more of them, each may be
	// silent for longer, since a replacement costs a request: twenty a second are enough.
	fewStreams = 1200
	// lastWords is the part that is read of a run that failed before the session began, counted from its end.
	lastWords = 30 * time.Second
)

// quietContainers are the sidecars whose logs would only distract from the resource's own.
var quietContainers = map[string]bool{"istio-init": true, "istio-proxy": true, "linkerd-init": true, "linkerd-proxy": true}

// Client is the part of a cluster that is needed here.
type Client interface {
	Logs(ctx context.Context, req k8s.LogRequest) (io.ReadCloser, error)
}

// Engine is the part of a container engine that is needed here.
type Engine interface {
	ContainerLogs(ctx context.Context, containerID string, since time.Time, follow bool) (io.ReadCloser, error)
}

// Subscriber is the PodLogManager.
type Subscriber struct {
	client Client
	engine Engine
	logs   *logstore.Store
	// places outlive a crash of Run, so that the next one continues where it stopped.
	places map[place]*spot
	open   atomic.Int64 // the number of streams
}

// New returns the subscriber. If a client is nil, its containers have no streams.
func New(client Client, engine Engine, logs *logstore.Store) *Subscriber {
	return &Subscriber{client: client, engine: engine, logs: logs, places: map[place]*spot{}}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      name,
		Doc:       "Streams the logs of every container of every pod, and of those that Compose runs, into the log store.",
		Inputs:    append(store.Holds(state.Resources), store.Reads(state.Sessions, state.Pods)...),
		Externals: []string{"kubernetes", "docker"},
		Stage:     store.StageWatch,
	}
}

// key names one run of a container.
type key struct {
	podUID    string
	container string
	id        string
}

// stream describes the run of a container when its stream begins.
type stream struct {
	spot  *spot
	pod   model.Pod
	name  string
	id    string
	since time.Time
	// missed is the id of the run before this one, if it ended before it was seen; it is read first.
	missed string
}

// place names a container, independent of its run.
type place struct{ podUID, container string }

// spot is the state that all runs of a container share.
type spot struct {
	// log keeps any run from repeating a line of another.
	log *podlogs.Stream
	// prefix precedes lines now: pods come and go while a stream is open.
	prefix atomic.Pointer[string]
}

func newSpot(s podlogs.Source) *spot {
	sp := &spot{log: podlogs.NewStream(s)}
	sp.prefix.Store(new(string))
	return sp
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil && s.engine == nil {
		return s.releaseOnly(ctx, rt)
	}
	// The streams outlive ctx for a moment: see follower.finish.
	streamCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	same := func(a, b stream) bool { return true } // the key is all that matters
	f := &follower{source: source{s.client, s.engine}, places: s.places, begun: map[key]bool{},
		streams: workers.NewSet(streamCtx, same, func(ctx context.Context, _ key, st stream) { s.follow(ctx, rt, st) })}
	defer f.streams.Stop()
	for {
		select {
		case <-ctx.Done():
			f.update(rt.View())
			f.finish(streamCtx, rt)
			return nil
		case <-rt.Wake():
		}
		v := rt.View()
		f.update(v)
		for _, e := range state.Leaving(v, name) {
			rt.Release(state.Resources, e.ID)
		}
		rt.Succeeded()
	}
}

// follower keeps the streams in step with the pods. It belongs to Run's goroutine.
type follower struct {
	source  source
	streams *workers.Set[key, stream]
	places  map[place]*spot
	// begun are the runs that have had a stream.
	begun map[key]bool
	// decided are the resources as they were when their streams were last decided. A change of a pod decides about its resource alone.
	decided map[model.ManifestName]decided
	// past are the streams, by key, of pods and runs that are gone: their last lines may still be on their way, and they end on their own.
	past map[key]model.ManifestName
}

// decided is a resource with its streams.
type decided struct {
	entry *store.Entry[state.Resource]
	pods  *state.Group[state.Pod]
	want  map[key]stream
}

// follows reports whether the resource has streams.
func (d decided) follows() bool {
	return d.entry != nil && d.entry.Value.Enabled && d.entry.Phase == store.Running
}

// update starts and stops streams.
func (f *follower) update(v store.View) {
	if f.decided == nil {
		f.decided, f.past = map[model.ManifestName]decided{}, map[key]model.ManifestName{}
		f.forget(v, maps.Keys(f.places)) // of an earlier run
	}
	resources, groups := state.Resources.In(v), state.PodsByResource.In(v)
	var drop []key
	add := map[key]stream{}
	decide := func(name model.ManifestName, next decided) {
		was := f.decided[name]
		if was.entry != next.entry || was.pods != next.pods {
			drop = append(drop, f.decide(v, name, next, add)...)
		}
	}
	for e := range resources.Refs() {
		name := model.ManifestName(e.ID)
		decide(name, decided{entry: e, pods: groups[name]})
	}
	for name := range f.decided {
		if len(f.decided) == resources.Len() {
			break // all of them are there
		}
		if resources.Ref(string(name)) == nil {
			decide(name, decided{})
			delete(f.decided, name)
		}
	}
	for k, name := range f.past {
		_, back := add[k] // the pod belongs to another resource now
		if !back && f.decided[name].follows() && f.streams.Runs(k) {
			continue
		}
		delete(f.past, k)
		if !back {
			drop = append(drop, k)
		}
	}
	f.streams.Change(drop, add)
}

// decide decides about the streams of a resource. It adds the missing ones to add, and returns those that end now.
func (f *follower) decide(v store.View, name model.ManifestName, next decided, add map[key]stream) (drop []key) {
	was := f.decided[name]
	if next.follows() {
		next.want = desired(next.pods.Values(), state.TheSession(v).StartedAt, f.begun)
	}
	for k, st := range next.want {
		at := place{k.podUID, k.container}
		if f.places[at] == nil {
			f.places[at] = newSpot(f.source)
		}
		st.spot = f.places[at]
		add[k], f.begun[k] = st, true
	}
	for k := range was.want {
		if _, still := next.want[k]; still {
			continue
		}
		if next.follows() {
			f.past[k] = name
		} else {
			drop = append(drop, k)
		}
	}
	f.decided[name] = next
	f.forget(v, placesOf(was.pods))
	f.label(next.pods.Values())
	return drop
}

// placesOf yields the containers of pods.
func placesOf(pods *state.Group[state.Pod]) iter.Seq[place] {
	return func(yield func(place) bool) {
		for _, p := range pods.Values() {
			for _, c := range p.AllContainers() {
				if !yield(place{p.UID, c.Name}) {
					return
				}
			}
		}
	}
}

// forget drops the containers whose pods are gone.
func (f *follower) forget(v store.View, of iter.Seq[place]) {
	gone := false
	for at := range of {
		if state.Pods.In(v).Ref(at.podUID) == nil {
			delete(f.places, at)
			gone = true
		}
	}
	if gone {
		maps.DeleteFunc(f.begun, func(k key, _ bool) bool { return f.places[place{k.podUID, k.container}] == nil })
	}
}

// finish gives the logs of ended containers time to arrive: ci ends as soon as a job is complete, which is before its last
// line was read.
func (f *follower) finish(ctx context.Context, rt *store.Runtime) {
	ctx, cancel := context.WithTimeout(ctx, lastLines)
	defer cancel()
	f.streams.Await(ctx, func(k key, st stream) bool {
		running, ended := now(rt, k.podUID, k.container)
		return running != k.id || ended
	})
}

func (s *Subscriber) releaseOnly(ctx context.Context, rt *store.Runtime) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			for _, e := range state.Leaving(rt.View(), name) {
				rt.Release(state.Resources, e.ID)
			}
		}
	}
}

// desired returns a stream for the newest run of each container of a resource. Runs that have ended keep their key for as long as the
// pod exists, so that they are read once.
func desired(pods []state.Pod, began time.Time, begun map[key]bool) map[key]stream {
	out := map[key]stream{}
	for _, pod := range pods {
		p := pod.Pod
		for _, c := range p.AllContainers() {
			run := state.RunOf(p, c)
			if quietContainers[c.Name] || run == "" {
				continue
			}
			st := stream{pod: p, name: c.Name, id: run, since: since(c, began)}
			restarted := c.LastID != "" && c.LastID != c.ID && c.StartedAt.After(began)
			if restarted && !begun[key{p.UID, c.Name, c.LastID}] {
				st.missed = c.LastID
			}
			out[key{p.UID, c.Name, run}] = st
		}
	}
	return out
}

// since returns the time from which the log of a container is read. A session shows the lines that are written while it runs. Of a
// container that had failed before it began, it also shows the end of that run: it explains the failure, and the next run may be
// minutes away.
func since(c model.Container, began time.Time) time.Time {
	ended := c.LastFinishedAt
	if c.State == model.ContainerTerminated {
		ended = c.FinishedAt
	}
	failed := c.State != model.ContainerRunning && c.Reason != "Completed"
	if failed && !ended.IsZero() && ended.Before(began) {
		return ended.Add(-lastWords)
	}
	return began
}

// now returns the newest run of a container in the newest snapshot, and whether it has ended; it has none when the pod is gone.
// While Kubernetes waits before it starts the next run, the container is not terminated, but waiting.
func now(rt *store.Runtime, uid, container string) (run string, ended bool) {
	e := state.Pods.In(rt.View()).Value(uid)
	for _, c := range e.AllContainers() {
		if c.Name == container {
			waits := c.State == model.ContainerWaiting && c.ID != "" && c.ID == c.LastID
			return state.RunOf(e.Pod, c), waits || c.State == model.ContainerTerminated
		}
	}
	return "", false
}

// follow reads a run to its end, and before it the run that was missed. Runs of one container take turns.
func (s *Subscriber) follow(ctx context.Context, rt *store.Runtime, st stream) {
	s.open.Add(1)
	defer s.open.Add(-1)
	if st.missed != "" {
		c := s.config(rt, st, st.missed)
		c.Previous = true
		_ = st.spot.log.Run(ctx, c)
	}
	_ = st.spot.log.Run(ctx, s.config(rt, st, st.id))
}

func (s *Subscriber) config(rt *store.Runtime, st stream, id string) podlogs.Config {
	base := logstore.Entry{Resource: st.pod.Resource, Span: state.LogSpan(st.pod, st.name, id), Source: logstore.SourceRuntime,
		Level: logstore.LevelInfo, Pod: st.pod.Name, Container: st.name}
	pod := st.pod.Name
	if st.pod.OfCompose() {
		pod = st.pod.UID // the next container may have the same name
	}
	lines := s.logs.Stream(base)
	return podlogs.Config{
		Cluster: st.pod.Cluster, Namespace: st.pod.Namespace, Pod: pod, Container: st.name, ContainerID: id, Since: st.since,
		Ended: func() bool {
			running, ended := now(rt, st.pod.UID, st.name)
			return running != id || ended
		},
		Replaced: func() bool {
			running, _ := now(rt, st.pod.UID, st.name)
			return running != "" && running != id && !st.pod.OfCompose()
		},
		StallMax: func() time.Duration { return stallMax(s.open.Load()) },
		Sink:     func(t time.Time, text string) { lines.Append(t, *st.spot.prefix.Load(), text) },
	}
}

// stallMax returns the time that a connection may stay silent while so many streams are open.
func stallMax(streams int64) time.Duration {
	return podlogs.StallMax * time.Duration(max(streams, fewStreams)) / fewStreams
}

// source is a cluster and an engine as podlogs sees them.
type source struct {
	client Client
	engine Engine
}

// Logs implements podlogs.Source.
func (s source) Logs(ctx context.Context, req podlogs.Request) (io.ReadCloser, error) {
	switch {
	case req.Namespace != "" && s.client != nil:
		return s.client.Logs(ctx, k8s.LogRequest{Cluster: req.Cluster, Namespace: req.Namespace, Pod: req.Pod, Container: req.Container,
			Previous: req.Previous, Since: req.Since, Follow: req.Follow})
	case req.Namespace != "" || s.engine == nil || req.Previous: // the engine has one log for all runs of a container
		return nil, podlogs.ErrNoLog
	}
	log, err := s.engine.ContainerLogs(ctx, req.Pod, req.Since, req.Follow)
	if docker.IsNotFound(err) {
		err = fmt.Errorf("%w: %w", podlogs.ErrNoLog, err)
	}
	return log, err
}
