// Package composewatcher follows the containers of Compose services.
//
// # Concurrency
//
// Run owns one goroutine, which listens to the engine's events. It only signals that something has happened; Run's own
// goroutine queries the state from the engine, and it alone decides and dispatches.
package composewatcher

import (
	"context"
	"reflect"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Engine is the part of a container engine that is needed here.
type Engine interface {
	ContainerStates(ctx context.Context, labels map[string]string) ([]docker.ContainerState, error)
	WatchContainers(ctx context.Context, label string, changed func()) error
}

// pause is the pause after a failure before the next request to the engine.
const pause = time.Second

// Subscriber is the ComposeWatcher. It leaves the engine alone until there is a Compose service.
type Subscriber struct{ engine Engine }

// New returns the subscriber; a nil engine is not watched.
func New(engine Engine) *Subscriber { return &Subscriber{engine} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "ComposeWatcher",
		Doc:       "Follows the containers of Compose services, and their status.",
		Inputs:    store.Reads(state.Resources),
		Outputs:   store.Shares(state.PodChanged{}, state.PodGone{}, state.ObjectsLost{}),
		Externals: []string{"docker"},
		Stage:     store.StageWatch,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.engine == nil {
		<-ctx.Done()
		return nil
	}
	changed := make(chan struct{}, 1)
	ended := make(chan struct{})
	close(ended) // there is no listener yet
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		<-ended
	}()
	b := &tracker{told: map[string]model.Pod{}, missing: map[string]missing{}}
	var again <-chan time.Time
	listening := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-changed:
		case <-again:
		}
		again = nil
		b.declare(rt.View())
		if len(b.services) > 0 && !listening {
			listening, ended = true, make(chan struct{})
			go s.listen(ctx, changed, ended)
		}
		if len(b.services) > 0 || len(b.told) > 0 {
			list, err := s.engine.ContainerStates(ctx, map[string]string{model.ComposeProjectLabel: ""})
			if err != nil {
				again = time.After(pause) // the known state stays until the engine answers again
				continue
			}
			rt.Dispatch(b.changes(list, time.Now())...)
			if len(b.missing) > 0 {
				again = time.After(pause)
			}
		}
		rt.Succeeded()
	}
}

// listen signals a change whenever the engine reports one, and whenever a new watch has begun.
func (s *Subscriber) listen(ctx context.Context, changed chan<- struct{}, ended chan<- struct{}) {
	defer close(ended)
	for ctx.Err() == nil {
		_ = s.engine.WatchContainers(ctx, model.ComposeProjectLabel, func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
		retry.Sleep(ctx, pause)
	}
}

// service is a service of a project.
type service struct{ project, name string }

// tracker is the subscriber's knowledge. It belongs to Run's goroutine.
type tracker struct {
	services map[service]model.ManifestName
	// told are the containers as they were dispatched last, by id.
	told map[string]model.Pod
	// missing are the containers that are gone and that nothing has replaced yet, by id.
	missing map[string]missing
}

// declare records the declared services.
func (b *tracker) declare(v store.View) {
	b.services = map[service]model.ManifestName{}
	for e := range state.Enabled(v) {
		if t := e.Value.Manifest.Compose; t != nil {
			b.services[service{t.Project.Name, t.Service}] = e.Value.Manifest.Name
		}
	}
}

// changes returns the changes of the containers.
func (b *tracker) changes(list []docker.ContainerState, now time.Time) []store.Action {
	var out []store.Action
	before := b.count()
	there := map[string]bool{}
	for _, c := range list {
		resource, ok := b.services[service{c.Labels[model.ComposeProjectLabel], c.Labels[model.ComposeServiceLabel]}]
		if !ok || c.Labels[model.ComposeOneOffLabel] == "True" {
			continue
		}
		there[c.ID] = true
		p := podOf(resource, c)
		was, known := b.told[c.ID]
		if known {
			remember(&p.Containers[0], was.Containers[0])
		}
		if known && reflect.DeepEqual(was, p) {
			continue
		}
		b.told[c.ID] = p
		out = append(out, state.PodChanged{Pod: state.Pod{Pod: p, Current: true}})
	}
	for id, p := range b.told {
		if !there[id] {
			delete(b.told, id)
			out = append(out, state.PodGone{Pod: p})
			if p.Phase != "Succeeded" { // a container that has done its work may be cleaned up
				b.missing[id] = missing{resource: p.Resource, since: now, of: before[p.Resource]}
			}
		}
	}
	return append(out, b.lost(now)...)
}
