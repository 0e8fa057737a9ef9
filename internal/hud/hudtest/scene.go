package hudtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Start is the beginning of scenes. ShopTime is the moment of the story at which tests look at the shop.
var (
	Start    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ShopTime = Start.Add(41 * time.Minute)
)

// Scene is a store whose clock the test sets.
type Scene struct {
	Store *store.Store
	clock func(time.Time)
	// asks is set if the session asks before it changes anything.
	asks bool
}

// New returns a scene at its start.
func New() *Scene {
	var mu sync.Mutex
	now := Start
	s := store.New(state.Schema, store.WithClock(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}))
	return &Scene{Store: s, clock: func(at time.Time) {
		mu.Lock()
		defer mu.Unlock()
		now = at
	}}
}

// At dispatches actions at an offset from Start, and returns that time.
func (s *Scene) At(offset time.Duration, actions ...store.Action) time.Time {
	at := Start.Add(offset)
	s.clock(at)
	s.Store.Dispatch(actions...)
	return at
}

// View ends the scene and returns all of its state.
func (s *Scene) View(ctx context.Context) store.View {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	s.Store.Run(ctx)
	return s.Store.Snapshot().All()
}

// Open starts a session with the given Tiltfile, on a cluster and an engine that answer.
func (s *Scene) Open(tf model.Tiltfile) {
	s.At(0, state.SessionStarted{Session: state.Session{Command: state.CommandUp, Tiltfile: "/home/dev/shop/Tiltfile", Project: "shop",
		Confirmation: state.Confirmation{Asked: s.asks}}},
		state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev", Namespace: "default"}, Connected: true},
		state.EngineReported{Connected: true},
		state.TiltfileStarted{At: Start, Span: "tiltfile:1"})
	tf.ConfigFiles = append([]string{"/home/dev/shop/Tiltfile"}, tf.ConfigFiles...)
	s.At(time.Second, state.TiltfileLoaded{Result: tf, At: Start.Add(420 * time.Millisecond)})
}

// Build dispatches a build of a resource that lasts from one offset to another.
func (s *Scene) Build(name model.ManifestName, serial int, from, to time.Duration, b state.BuildCompleted, files ...string) {
	reason := state.ReasonFiles
	if len(files) == 0 {
		reason = state.ReasonInitial
	}
	at := Start.Add(from)
	s.At(from, state.BuildStarted{Resource: name, Serial: serial, Reason: reason, Files: files, At: at,
		Span: fmt.Sprintf("build:%s:%d", name, serial)})
	b.Resource, b.Serial, b.At = name, serial, Start.Add(to)
	s.At(to, b)
}

// Applied returns the result of a build that deployed some objects.
func Applied(mode string, objects ...model.ObjectID) state.BuildCompleted {
	b := state.BuildCompleted{Mode: mode, Deployed: true}
	for _, id := range objects {
		b.Applied = append(b.Applied, model.AppliedObject{ObjectID: id, UID: "uid-" + id.Name})
	}
	return b
}

// Took returns the update of a pod's container, with the milliseconds that noticing, waiting, sending and applying took.
func Took(pod string, files int, bytes int64, noticed, waited, sent, applied float64) model.ContainerUpdate {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	return model.ContainerUpdate{Namespace: "default", Pod: pod, Container: "main", ID: "c-" + pod, Mode: "synclet", Files: files, Bytes: bytes,
		Stages: model.Stages{Noticed: ms(noticed), Waited: ms(waited), Sent: ms(sent), Applied: ms(applied)}}
}

// Pod returns a current pod of a resource with one container.
func Pod(resource model.ManifestName, created time.Duration, ready bool) state.Pod {
	at := Start.Add(created)
	return state.Pod{Current: true, Pod: model.Pod{Namespace: "default", Name: string(resource) + "-7c9d-x2v1",
		UID: "pod-" + string(resource), Resource: resource, Phase: "Running", Status: "Running", CreatedAt: at, Ready: ready,
		Containers: []model.Container{{Name: "main", ID: "c-" + string(resource), State: model.ContainerRunning, Ready: ready,
			StartedAt: at}}}}
}
