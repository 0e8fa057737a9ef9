package status

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// declared are a resource of the cluster that waits for one with a server, a service of Compose, and a test of the first.
func declared() []model.Manifest {
	a, b, d := statetest.K8s("a", statetest.Image("a")), statetest.Local("b"), statetest.Local("d")
	a.ResourceDeps = []model.ManifestName{"b"}
	a.K8s.PortForwards = []model.PortForward{{LocalPort: 8080}}
	b.Local.Serve = model.Cmd{Argv: []string{"serve"}}
	d.ResourceDeps = []model.ManifestName{"a"}
	d.Local.Test = &model.Test{}
	return []model.Manifest{a, b, statetest.Compose("c"), d}
}

// happenings change everything that the states of these resources are derived from.
var happenings = map[string]func(s *statetest.State, random *rand.Rand){
	"save":       sends(statetest.Change("a", "/src/a/Dockerfile")),
	"save to c":  sends(statetest.Change("c", "/src/c/Dockerfile")),
	"gone":       sends(statetest.Loaded(declared()[1:]...)),
	"come":       sends(statetest.Loaded(declared()...)),
	"save to b":  sends(state.ResourcesTriggered{Names: []model.ManifestName{"b"}}),
	"deleted":    sends(state.ResourceDrifted{Resource: "a", Objects: []state.ObjectDrift{{What: state.DriftDeleted, UID: "uid-a"}}}),
	"trigger":    sends(state.ResourcesTriggered{Names: []model.ManifestName{"a"}}),
	"pause":      sends(state.SessionPaused{}),
	"resume":     sends(state.SessionResumed{}),
	"off":        sends(state.ResourcesSwitched{Off: []model.ManifestName{"a"}}),
	"on":         sends(state.ResourcesSwitched{On: []model.ManifestName{"a"}}),
	"lock":       sends(state.DeployLockTaken{ID: 1, By: "hone ci (pid 42)"}),
	"unlock":     sends(state.DeployLockReleased{ID: 1}),
	"down":       sends(state.ObjectsTakenDown{By: "hone down (pid 42)"}),
	"lost":       sends(state.ObjectsLost{UIDs: map[model.ManifestName][]string{"a": {"uid-a"}}}),
	"away":       sends(state.ClusterReported{Cluster: model.Cluster{Context: "hone-dev"}, Err: "connection refused"}),
	"no engine":  sends(state.EngineReported{Err: "connection refused"}),
	"back":       sends(statetest.Connected()...),
	"healthy":    sends(statetest.Healthy("a")),
	"blind":      sends(state.ClusterWatchFailed{ID: "pods", Watch: state.ClusterWatch{Resources: []model.ManifestName{"a"}, Blinds: true, Problem: state.Problem{Summary: "no pods"}}}),
	"blinder":    sends(state.ClusterWatchFailed{ID: "pods", Watch: state.ClusterWatch{Resources: []model.ManifestName{"a"}, Blinds: true, Problem: state.Problem{Summary: "no list of pods"}}}),
	"sighted":    sends(state.ClusterWatchMended{ID: "pods"}),
	"drift":      sends(state.ResourceDrifted{Resource: "a", Objects: []state.ObjectDrift{{What: state.DriftChanged}}}),
	"no drift":   sends(state.ResourceDrifted{Resource: "a"}),
	"restart":    sends(state.ResourcesRestarted{Names: []model.ManifestName{"b"}}),
	"supervised": sends(state.SyncletChanged{ID: "p1", Synclet: state.Synclet{Resource: "a", Container: "main", Supervised: true, ExitCode: 3}}),
	"running":    sends(state.SyncletChanged{ID: "p1", Synclet: state.Synclet{Resource: "a", Container: "main", Supervised: true, Running: true}}),
	"unhealthy": sends(state.ObjectsChanged{Objects: []model.ObjectStatus{{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "a"},
		UID: "uid-a", Resource: "a", Health: model.HealthFailed, Message: "no quota"}}}),
	"service": sends(state.ServiceChanged{Service: model.Service{Namespace: "default", Name: "a", Resource: "a", URL: "http://10.0.0.1"}}),
	"pod": func(s *statetest.State, random *rand.Rand) {
		n := random.IntN(3)
		p := statetest.Pod("a", fmt.Sprint("p", n), fmt.Sprint("p", n), "a:1")
		if p.Pod.Ready = random.IntN(2) == 0; !p.Pod.Ready {
			p.Pod.Status = "CrashLoopBackOff"
			p.Pod.Containers[0].State, p.Pod.Containers[0].Reason = model.ContainerWaiting, "CrashLoopBackOff"
		}
		s.Then(p)
	},
	"container": func(s *statetest.State, _ *rand.Rand) {
		p := statetest.Pod("c", "shop-c-1", "c1", "c:1")
		p.Pod.UID, p.Pod.Engine = "c1", "docker"
		s.Then(p)
	},
	"server": func(s *statetest.State, random *rand.Rand) {
		p := state.Process{Resource: "b", State: state.ProcessRunning, PID: 7, Build: 1, Ready: random.IntN(2) == 0}
		s.Then(state.ProcessChanged{Process: p})
	},
	"forward": func(s *statetest.State, random *rand.Rand) {
		f := state.Forward{Resource: "a", Spec: model.PortForward{LocalPort: 8080}, State: state.ForwardReady, Pod: "default/p0:80"}
		if random.IntN(2) == 0 {
			f.State, f.Err = state.ForwardFailed, "port 8080 is taken"
		}
		s.Then(state.ForwardChanged{ID: "a/8080", Forward: f})
	},
	"build": func(s *statetest.State, random *rand.Rand) {
		for _, c := range buildcontrol.Decide(s.View(), nil).Start {
			if name := string(c.Name); random.IntN(3) > 0 {
				s.Deployed(name)
			} else {
				s.Begin(name).Finish(name, func(b *state.BuildCompleted) { b.Err = "exit code 3" })
			}
		}
	},
	"begin": func(s *statetest.State, _ *rand.Rand) {
		for _, c := range buildcontrol.Decide(s.View(), nil).Start {
			s.Begin(string(c.Name))
			return
		}
	},
	"finish": func(s *statetest.State, _ *rand.Rand) {
		for e := range state.Updates.In(s.View()).Refs() {
			if e.Value.Current != nil {
				s.Finish(e.ID, nil)
				return
			}
		}
	},
}

func sends(actions ...store.Action) func(*statetest.State, *rand.Rand) {
	return func(s *statetest.State, _ *rand.Rand) { s.Then(actions...) }
}

// TestStatesAreThoseOfTheSnapshot lets things happen at random, and compares each state, which may be one from before, with one that is
// derived from the snapshot alone.
func TestStatesAreThoseOfTheSnapshot(t *testing.T) {
	names := slices.Sorted(maps.Keys(happenings))
	deployed := func(s *statetest.State) *statetest.State {
		for _, name := range []string{"b", "a", "c", "d"} {
			s.Deployed(name)
		}
		return s.Then(statetest.Healthy("a"), statetest.Pod("a", "p1", "p1", "a:1"))
	}
	reused, all := 0, 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		session := statetest.Session
		session.Session.Confirmation.Asked = seed%4 == 0
		s := statetest.New(session, state.TiltfileStarted{}, statetest.Loaded(declared()...)).Then(statetest.Connected()...)
		if seed%2 == 0 {
			s = deployed(s.Hold("keeper"))
		}
		var story []string
		before := map[string]*Resource{}
		for range 60 {
			name := names[random.IntN(len(names))]
			story = append(story, name)
			happenings[name](s, random)
			v := s.View()
			for e := range state.Resources.In(v).Refs() {
				u := state.UpdatingOf(v, e)
				got, want := Of(v, u), newBases(v).known(u, nil).is
				if !reflect.DeepEqual(want, got) {
					t.Fatalf("seed %d, %s after %v: %+v, kept as %+v", seed, e.ID, story, *want, *got)
				}
				if all++; before[e.ID] == got {
					reused++
				}
				before[e.ID] = got
			}
		}
	}
	if reused < all/2 {
		t.Errorf("%d of %d states were those of the snapshot before", reused, all)
	}
}
