package clusterwatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// follower watches one thing for each resource, called like it. It ignores the event "dull".
type follower struct {
	mu  sync.Mutex // guards log and again
	log []string
	// users are the resources of watches, by key, if they differ from the key.
	users map[string][]model.ManifestName
	// again is the result of Changes, once.
	again time.Duration
}

func (f *follower) Wanted(v store.View) map[string][]model.ManifestName {
	out := map[string][]model.ManifestName{}
	for e := range state.Enabled(v) {
		out[e.ID] = []model.ManifestName{model.ManifestName(e.ID)}
		if names, ok := f.users[e.ID]; ok {
			out[e.ID] = names
		}
	}
	return out
}

func (f *follower) Take(key, event string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, key+" "+event)
	return event != "dull"
}

func (f *follower) Changes(context.Context, store.View) ([]store.Action, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, "changes")
	again := f.again
	f.again = 0
	return nil, again
}

// subscriber runs a follower on watches that the test moves.
type subscriber struct {
	follower *follower
	mu       sync.Mutex // guards the fields below
	watches  map[string]*watch
	began    int
}

// of returns the newest watch of a key.
func (s *subscriber) of(key string) *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[key]
}

// watch is the newest watch of a key.
type watch struct {
	trouble func(error)
	event   func(string)
}

func (s *subscriber) Contract() store.Contract {
	return store.Contract{Name: "test", Doc: "Watches.", Inputs: store.Reads(state.Resources),
		Outputs: store.Shares(state.ClusterWatchFailed{}, state.ClusterWatchMended{}), Stage: store.StageWatch}
}

func (s *subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	w := Watches[string, string]{ID: func(key string) string { return "watch " + key }, Watch: func(ctx context.Context, key string, trouble func(error), event func(string)) error {
		s.mu.Lock()
		s.began++
		s.watches[key] = &watch{trouble, event}
		s.mu.Unlock()
		<-ctx.Done()
		return nil
	}}
	return Run(ctx, rt, w, s.follower)
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &subscriber{follower: &follower{users: map[string][]model.ManifestName{"silent": nil}}, watches: map[string]*watch{}}
		a := statetest.Start(t, s)
		check := func(what string, began int, want ...string) {
			t.Helper()
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.follower.mu.Lock()
			defer s.follower.mu.Unlock()
			if diff := cmp.Diff(want, s.follower.log); diff != "" || s.began != began {
				t.Errorf("%s: %d watches have begun, want %d; reports (-want +got):\n%s", what, s.began, began, diff)
			}
			s.follower.log = nil
		}
		a.Then(statetest.Session)
		check("nothing is declared", 0, "changes")
		a.Then(statetest.Loaded(statetest.K8s("web"), statetest.K8s("api"), statetest.K8s("silent")))
		check("declared", 3, "changes")
		s.of("web").event("pod")
		check("an event", 3, "web pod", "changes")
		s.of("web").event("dull")
		check("an event that changes nothing", 3, "web dull")
		s.follower.mu.Lock()
		s.follower.again = time.Minute
		s.follower.mu.Unlock()
		s.of("api").event("soon")
		check("asks to be called again", 3, "api soon", "changes")
		time.Sleep(time.Minute)
		check("a minute later", 3, "changes")
		time.Sleep(time.Hour)
		check("once", 3)

		failing := func() (out []string) {
			for e := range state.ClusterWatches.In(a.View()).Refs() {
				out = append(out, fmt.Sprint(e.ID, " for ", e.Value.Resources))
			}
			return out
		}
		s.of("web").trouble(errors.New("forbidden"))
		check("one fails", 3, "changes")
		s.of("silent").trouble(errors.New("forbidden"))
		check("another one fails, for nothing", 3, "changes")
		if diff := cmp.Diff([]string{"watch web for [web]"}, failing()); diff != "" {
			t.Errorf("failing (-want +got):\n%s", diff)
		}
		s.of("web").trouble(nil)
		check("one works again", 3, "changes")
		if diff := cmp.Diff([]string(nil), failing()); diff != "" {
			t.Errorf("failing (-want +got):\n%s", diff)
		}

		a.Then(statetest.Loaded(statetest.K8s("api")))
		check("two have left", 3, "changes")
		a.Then(statetest.Loaded(statetest.K8s("api"), statetest.K8s("web")))
		check("one is back", 4, "changes")
	})
}

// TestLastReports drops the reports of an ended watch, even if another watch has the same key by now.
func TestLastReports(t *testing.T) {
	f := &follower{}
	b := newTracker(Watches[string, string]{}, f)
	deployed := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web"))).View()
	first := b.want(deployed)["web"]
	b.want(statetest.New(statetest.Session, statetest.Loaded()).View())
	b.want(deployed)
	b.take(report[string, string]{key: "web", serial: first, event: "of the first"})
	b.take(report[string, string]{key: "web", serial: first, trouble: true, err: errors.New("the first failed")})
	b.take(report[string, string]{key: "web", serial: b.serials["web"], event: "of the second"})
	if diff := cmp.Diff([]string{"web of the second"}, f.log); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	if changes := b.troubles.Changes(b.users); len(changes) > 0 {
		t.Errorf("told of the first watch's failure: %v", changes)
	}
}
