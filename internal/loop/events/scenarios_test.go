package events_test

import (
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// scenario is a part of a session.
type scenario struct {
	name string
	play func(s *statetest.State)
}

func pod(change func(*state.Pod)) state.PodChanged {
	p := statetest.Pod("web", "web-1", "c1", "web:1")
	change(&p.Pod)
	return p
}

func waiting(p *state.Pod) {
	p.Status, p.Ready, p.Containers[0].State = "ContainerCreating", false, model.ContainerWaiting
}

func crashed(reason string) func(*state.Pod) {
	return func(p *state.Pod) {
		p.Status, p.Ready = reason, false
		p.Containers[0].State, p.Containers[0].Reason, p.Containers[0].Restarts = model.ContainerWaiting, reason, 1
	}
}

func server(change func(*state.Process)) state.ProcessChanged {
	p := state.Process{Resource: "srv", PID: 7, State: state.ProcessRunning}
	change(&p)
	return state.ProcessChanged{Process: p}
}

func synclet(change func(*state.Synclet)) state.SyncletChanged {
	s := state.Synclet{Resource: "web", Namespace: "default", Pod: "web-1", Container: "main", State: "ready", Supervised: true, Running: true, Starts: 1}
	change(&s)
	return state.SyncletChanged{ID: "c1", Synclet: s}
}

func forward(s state.ForwardState, pod, err string) state.ForwardChanged {
	return state.ForwardChanged{ID: "web/8080", Forward: state.Forward{Resource: "web", Spec: model.PortForward{LocalPort: 8080}, URL: "http://localhost:8080/",
		Pod: pod, State: s, Err: err}}
}

// files returns n files of resource web.
func files(n int) []string {
	var out []string
	for i := range n {
		out = append(out, "/src/web/f"+string(rune('a'+i))+".go")
	}
	return out
}

var inPlace = []model.ContainerUpdate{{Namespace: "default", Pod: "web-1", Container: "main", ID: "c1", Mode: "synclet", Files: 1, Bytes: 12,
	Stages: model.Stages{Noticed: 400 * time.Microsecond, Waited: time.Millisecond, Sent: 100 * time.Microsecond, Applied: 700 * time.Microsecond}},
	{Namespace: "default", Pod: "web-2", Container: "main", ID: "c2", Mode: "synclet", Behind: true}}

var scenarios = []scenario{
	{"a session begins and ends", func(s *statetest.State) {
		s.Then(state.SessionEnded{Failure: "web: no such image"}, state.SessionEnded{})
	}},
	{"a session is paused and resumed", func(s *statetest.State) {
		s.Then(state.SessionPaused{}, state.SessionPaused{}, state.SessionResumed{}, state.SessionResumed{})
	}},
	{"the Tiltfile", func(s *statetest.State) {
		change := state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs}, Paths: []string{"/src/Tiltfile", "/src/lib/x"}}}}
		good := statetest.Loaded(statetest.Local("gen"))
		good.At, good.Result.Warnings = s.Now.Add(1234*time.Millisecond), []string{"old"}
		s.Then(change, state.TiltfileStarted{At: s.Now}, good, state.ResourcesTriggered{Names: []model.ManifestName{model.TiltfileName}},
			state.TiltfileStarted{At: s.Now.Add(time.Hour)}, state.TiltfileLoaded{Err: "Tiltfile:3: colour\n  is no argument", At: s.Now.Add(2 * time.Hour)})
	}},
	{"a node pulls an image", func(s *statetest.State) {
		s.Then(state.ImagePulled{Resource: "web", Pod: "web-1", Image: "registry/web:1", Took: 1234 * time.Millisecond})
	}},
	{"a resource is updated for the first time", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.K8s("web", statetest.Image("web")))).Deployed("web").
			Then(statetest.Healthy("web"), state.ResourcesReady{Names: []model.ManifestName{"web"}}, state.ResourcesReady{Names: []model.ManifestName{"web"}})
	}},
	{"files change, and an update fails", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.K8s("web", statetest.Image("web")))).Deployed("web").
			Then(statetest.Change("web", files(25)...), statetest.Change("web", "/src/web/fa.go"), statetest.Change("api", "/src/api/x")).
			Begin("web").Finish("web", func(b *state.BuildCompleted) {
			b.Err, b.Mode, b.Warnings = "build web: no Dockerfile\n  write one", "image", 1
			b.Problem = &state.Problem{Summary: "no Dockerfile", Cause: "open: not there", Detail: "1 | FROM", Mend: "write one", Link: "https://example.com"}
		}).Begin("web").Finish("web", func(b *state.BuildCompleted) { b.Cancelled = true }).
			Begin("web").Finish("web", func(b *state.BuildCompleted) { b.Err = "exit code 3\nmake: nothing" })
	}},
	{"an update in place, in which one container falls behind", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.K8s("web", statetest.Image("web")))).Deployed("web").Then(pod(func(*state.Pod) {})).
			Begin("web").Finish("web", func(b *state.BuildCompleted) {
			b.Mode, b.Containers, b.Synced = "synclet", inPlace, []string{"c1"}
			b.Sending = map[string]state.Sending{"c2": {Pod: "web-2"}}
		}).Then(state.LaneEnded{Resource: "web", Serial: 2, Synced: true,
			Update: model.ContainerUpdate{Namespace: "default", Pod: "web-2", Container: "main", ID: "c2", Mode: "synclet", Files: 1,
				Stages: model.Stages{Waited: 70 * time.Second, Applied: 3 * time.Second}}})
	}},
	{"a container that is behind goes", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.K8s("web", statetest.Image("web")))).Deployed("web").Begin("web").Finish("web", func(b *state.BuildCompleted) {
			b.Mode, b.Containers, b.Sending = "synclet", inPlace, map[string]state.Sending{"c2": {Pod: "web-2"}}
		}).Then(state.PodGone{Pod: model.Pod{UID: "uid", Resource: "web", Containers: []model.Container{{ID: "c2"}}}})
	}},
	{"pods", func(s *statetest.State) {
		same := pod(func(*state.Pod) {})
		s.Then(pod(waiting), pod(waiting), same, same, pod(crashed("Error")), pod(crashed("Error")), pod(crashed("CrashLoopBackOff")), pod(waiting),
			pod(func(p *state.Pod) { p.Phase, p.Status, p.Ready = "Succeeded", "Completed", false }), state.PodGone{Pod: same.Pod.Pod}, state.PodGone{Pod: same.Pod.Pod})
	}},
	{"a program in a container", func(s *statetest.State) {
		s.Then(synclet(func(s *state.Synclet) { s.Supervised, s.Running = false, false }), synclet(func(*state.Synclet) {}),
			synclet(func(s *state.Synclet) { s.State = "broken" }), synclet(func(s *state.Synclet) { s.Running, s.ExitCode = false, 2 }),
			synclet(func(s *state.Synclet) { s.Starts = 2 }), synclet(func(s *state.Synclet) { s.Starts = 3 }), state.SyncletGone{ID: "c1"})
	}},
	{"a server", func(s *statetest.State) {
		starting := server(func(p *state.Process) { p.State, p.PID = state.ProcessStarting, 0 })
		ready := server(func(p *state.Process) { p.Ready = true })
		s.Then(starting, server(func(*state.Process) {}), ready, server(func(p *state.Process) { p.Detail = "probe: 503" }), ready,
			server(func(p *state.Process) { p.PID, p.Ready = 8, true }),
			server(func(p *state.Process) { p.State, p.ExitCode, p.Err = state.ProcessFailed, 3, "exit code 3" }), state.ProcessGone{Resource: "srv"},
			starting, ready, state.ProcessGone{Resource: "srv"}, ready, server(func(p *state.Process) { p.State = state.ProcessStopped }))
	}},
	{"restarts", func(s *statetest.State) {
		web := statetest.Local("web")
		web.Local.Serve = model.Cmd{Argv: []string{"serve"}}
		s.Then(statetest.Loaded(web, statetest.K8s("api")), state.ResourcesRestarted{Names: []model.ManifestName{"api", "web"}, Pods: true},
			state.RestartEnded{Resource: "api", Serial: 1, Done: []string{"pod api-1", "pod api-2"}},
			state.ProcessChanged{Process: state.Process{Resource: "web", State: state.ProcessRunning, PID: 7, Restart: 1}},
			state.ResourcesRestarted{Names: []model.ManifestName{"api"}}, state.RestartEnded{Resource: "api", Serial: 1},
			state.RestartEnded{Resource: "api", Serial: 2, Err: "restart pod api-1: forbidden\nask"}, state.RestartEnded{Resource: "api", Serial: 2})
	}},
	{"a port forward", func(s *statetest.State) {
		s.Then(forward(state.ForwardWaiting, "", ""), forward(state.ForwardReady, "default/web-1:80", ""), forward(state.ForwardReady, "default/web-1:80", ""),
			forward(state.ForwardReady, "default/web-2:80", ""), forward(state.ForwardFailed, "", "port 8080 is taken"), state.ForwardClosed{ID: "web/8080"})
	}},
	{"cluster and engine", func(s *statetest.State) {
		lost := state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Err: "connection refused"}
		up := state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Connected: true}
		s.Then(state.ClusterReported{}, lost, lost, up, up, lost, state.EngineReported{Connected: true, Host: "unix:///run/docker.sock"}, state.EngineReported{Err: "gone"})
	}},
	{"resources are switched, triggered and leave", func(s *statetest.State) {
		web := []model.ManifestName{"web"}
		both := statetest.Loaded(statetest.Local("web"), statetest.Local("gen"))
		s.Then(both, state.ResourcesSwitched{Off: web}, state.ResourcesSwitched{Off: web}, both, state.ResourcesTriggered{Names: web},
			state.ResourcesSwitched{On: web}, state.ResourcesTriggered{Names: web}, statetest.Loaded(statetest.Local("gen")))
	}},
	{"resources leave, or are switched off, while they are updated", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.Local("web"), statetest.Local("gen"))).Begin("web").Begin("gen")
		s.Then(state.ResourcesSwitched{Off: []model.ManifestName{"web"}}, statetest.Loaded(statetest.Local("web")),
			state.BuildCompleted{Resource: "gen", Serial: 1, Cancelled: true}, state.BuildCompleted{Resource: "web", Serial: 1, Cancelled: true})
	}},
	{"resources wait", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.Local("web"), statetest.Local("gen")), state.HoldsChanged{Changes: []state.HoldChange{
			{Resource: "web", Reason: "waiting-for-dep", Text: "waits for gen to be ready", On: []model.ManifestName{"gen"}},
			{Resource: "gen", Was: "waiting-for-slot", For: 1500 * time.Millisecond}}})
	}},
	{"clients request changes", func(s *statetest.State) {
		s.Then(statetest.Loaded(statetest.Local("gen"), statetest.Local("web")))
		s.Then(state.RequestMade{By: "bot", Request: "trigger", Resources: []model.ManifestName{"gen"}}, state.ResourcesTriggered{Names: []model.ManifestName{"gen"}, By: "bot"})
		s.Then(state.RequestMade{By: "page", Request: "restart", Resources: []model.ManifestName{"gen", "web"}})
		s.Then(state.RequestMade{By: "owner", Request: "delete /apis/tilt.dev/v1alpha1/configmaps/x"})
	}},
	{"what the Tiltfile declares beside resources", func(s *statetest.State) {
		l := statetest.Loaded(statetest.Local("web"))
		l.Result.Buttons = []model.Button{{Name: "seed", Text: "Seed", Place: model.ButtonPlace{Type: model.ComponentResource, Component: "web"},
			Inputs: []model.Input{{Name: "password", Kind: model.InputHidden}}}, {Name: "off", Disabled: true}}
		l.Result.Commands = []model.Command{{Name: "lint"}}
		l.Result.FileWatches = []model.FileWatch{{Name: "docs"}}
		ended := func(c state.CommandEnded) []store.Action {
			return []store.Action{state.CommandStarted{Name: "lint"}, state.CommandReported{Name: "lint", PID: 3}, c}
		}
		s.Then(l, state.ButtonClicked{Button: "seed", Inputs: map[string]string{"password": "hunter2hunter2"}}, state.ButtonClicked{Button: "off"},
			state.FilesChanged{Changes: []state.FileChange{{Target: model.TargetID{Type: model.TargetFileWatch, Name: "docs"}, Paths: []string{"/src/b", "/src/a"}}}})
		s.Then(ended(state.CommandEnded{Name: "lint"})...).Then(ended(state.CommandEnded{Name: "lint", ExitCode: 2, Err: "exit code 2"})...).
			Then(ended(state.CommandEnded{Name: "lint", Stopped: true})...)
	}},
	{"a part of hone fails", func(s *statetest.State) {
		s.Then(store.SubscriberReported{Name: "HUD", State: store.SubscriberRunning}, store.SubscriberReported{Name: "HUD", State: store.SubscriberBackingOff, Crashes: 1, Err: "index out of range"},
			store.SubscriberReported{Name: "HUD", State: store.SubscriberRunning, Crashes: 1, Err: "index out of range"})
	}},
}
