package intent_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// running is a session with a resource for each case that a restart distinguishes.
func running() *statetest.State {
	serve := func(name string) model.Manifest {
		m := statetest.Local(name)
		m.Local.Serve = model.Cmd{Argv: []string{"serve"}}
		return m
	}
	compose := func(name string) model.Manifest {
		return model.Manifest{Name: model.ManifestName(name), AutoInit: true, Compose: &model.ComposeTarget{Service: name}}
	}
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.Local("gen"), serve("site"), serve("slow"), compose("db"), compose("cold"),
		statetest.K8s("web"), statetest.K8s("api"), statetest.K8s("new"), statetest.K8s("gone"), statetest.K8s("alien"), statetest.K8s("off")))
	for _, name := range []string{"db", "web", "api", "gone", "alien"} {
		s.Deployed(name)
	}
	alien := statetest.Pod("alien", "alien-1", "c3", "alien:1")
	alien.Pod.Selected = true
	db := statetest.Pod("db", "db-1", "c4", "db")
	db.Pod.Containers[0].Runtime, db.Pod.Engine = "docker", "running"
	s.Then(statetest.Connected()...)
	return s.Then(statetest.Pod("web", "web-1", "c1", "web:1"), statetest.Pod("api", "api-1", "c2", "api:1"), alien, db,
		state.SyncletChanged{ID: "c1", Synclet: state.Synclet{Resource: "web", Container: "main", State: "ready", Supervised: true, Running: true}},
		state.SyncletChanged{ID: "c2", Synclet: state.Synclet{Resource: "api", Container: "main", State: "ready"}},
		state.ProcessChanged{Process: state.Process{Resource: "site", State: state.ProcessFailed}},
		state.ResourcesSwitched{Off: []model.ManifestName{"off"}})
}

func TestRestart(t *testing.T) {
	v := running().View()
	impossible := func(text string) refusal { return refusal{intent.Impossible, text} }
	for _, tc := range []struct {
		name string
		pods bool
		want refusal
	}{
		{"site", false, refusal{}},
		{"site", true, refusal{}},
		{"web", false, refusal{}},
		{"web", true, refusal{}},
		{"db", false, refusal{}},
		{"db", true, refusal{}},
		{"api", true, refusal{}},
		{"api", false, impossible("resource \"api\" has no process that can be restarted in place: hone is connected to no supervisor in its containers, which " +
			"restart_process() in live_update adds\n  replace its pods instead: hone restart --pod api")},
		{"gen", false, impossible("resource \"gen\" has no serve_cmd, so nothing of it keeps running\n  run its command again: hone trigger gen")},
		{"slow", false, impossible("resource \"slow\" has not started its serve_cmd yet\n  start it: hone trigger slow")},
		{"cold", false, impossible("resource \"cold\" has not been deployed yet\n  deploy it: hone trigger cold")},
		{"new", true, impossible("resource \"new\" has not been deployed yet\n  deploy it: hone trigger new")},
		{"gone", true, impossible("resource \"gone\" has no pod that could be replaced\n  deploy it: hone trigger gone")},
		{"gone", false, impossible("resource \"gone\" has no running pod\n  deploy it: hone trigger gone")},
		{"alien", true, impossible("resource \"alien\" only finds its pods by their labels: hone has not deployed them, and leaves them alone\n" +
			"  restart them where they are deployed: kubectl delete pod alien-1")},
		{"off", true, impossible("resource \"off\" is disabled\n  enable it first: hone enable off")},
		{"(Tiltfile)", true, impossible("the Tiltfile runs nothing that could be restarted\n  evaluate it again: hone trigger '(Tiltfile)'")},
		{"wbe", true, refusal{intent.Unknown, "no resource is called \"wbe\"\n  did you mean web? there are: gen, site, slow, db, cold, web, api, new, gone, alien, and 1 more"}},
	} {
		got, err := intent.Restart(v, []string{tc.name}, tc.pods)
		if diff := cmp.Diff(tc.want, refusalOf(err), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%s, pods %t: refusal (-want +got):\n%s", tc.name, tc.pods, diff)
		}
		want := state.ResourcesRestarted{Names: []model.ManifestName{model.ManifestName(tc.name)}, Pods: tc.pods}
		if err != nil {
			want = state.ResourcesRestarted{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, pods %t (-want +got):\n%s", tc.name, tc.pods, diff)
		}
	}
	away := running().Then(state.ClusterReported{}, state.EngineReported{}).View()
	for name, text := range map[string]string{"web": "the cluster does not answer", "db": "the container engine does not answer"} {
		if _, err := intent.Restart(away, []string{name}, true); refusalOf(err) != (refusal{intent.Impossible, text + "\n  try again when it does: hone doctor checks it"}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, err := intent.Restart(v, []string{"web", "site", "web"}, false)
	if want := (state.ResourcesRestarted{Names: []model.ManifestName{"web", "site"}}); err != nil || !cmp.Equal(want, a) {
		t.Errorf("several: %v, %v", a, err)
	}
	if _, err := intent.Restart(v, nil, false); intent.Why(err) != intent.Invalid {
		t.Errorf("none: %v", err)
	}
}

func TestRebuild(t *testing.T) {
	a, err := intent.Rebuild(shop(), []string{"a", "(Tiltfile)"})
	if want := (state.ResourcesTriggered{Names: []model.ManifestName{"a", "(Tiltfile)"}, Rebuild: true}); err != nil || !cmp.Equal(want, a) {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := intent.Rebuild(shop(), []string{"c"}); intent.Why(err) != intent.Impossible || a.Rebuild {
		t.Errorf("a disabled one: %v, %v", a, err)
	}
}

func TestPause(t *testing.T) {
	s := statetest.New(statetest.Session)
	changes := func(pause, resume bool) {
		t.Helper()
		_, paused, err := intent.Pause(s.View())
		_, resumed := intent.Resume(s.View())
		if err != nil || paused != pause || resumed != resume {
			t.Errorf("pausing changes something: %t (%v), resuming: %t; want %t and %t", paused, err, resumed, pause, resume)
		}
	}
	changes(true, false)
	s.Then(state.SessionPaused{})
	changes(false, true)
	s.Then(state.SessionResumed{})
	changes(true, false)
	ci := statetest.Session
	ci.Session.Command = state.CommandCI
	if _, _, err := intent.Pause(statetest.New(ci).View()); refusalOf(err) != (refusal{intent.Impossible, "hone ci cannot be paused\n  end it instead: hone stop"}) {
		t.Errorf("ci: %v", err)
	}
}

func TestForwards(t *testing.T) {
	web := statetest.K8s("web")
	web.K8s.PortForwards = []model.PortForward{{LocalPort: 8080, ContainerPort: 80, Name: "page"}, {LocalPort: 9000, Host: "127.0.0.2"}, {LocalPort: 7000}}
	pod := statetest.Pod("web", "web-1", "c1", "web:1")
	pod.Pod.Containers[0].Ports = []int{5000}
	settings := statetest.K8s("settings")
	settings.K8s.PodReadiness = model.PodIgnore
	v := statetest.New(statetest.Session, statetest.Loaded(web, statetest.K8s("api"), statetest.Local("gen"), settings,
		model.Manifest{Name: "db", Compose: &model.ComposeTarget{Service: "db"}}, statetest.K8s("off")), pod,
		state.ResourcesSwitched{Off: []model.ManifestName{"off"}}, state.BuildStarted{Resource: "settings", Serial: 1}, state.BuildCompleted{Resource: "settings", Serial: 1, Deployed: true, At: time.Unix(1, 0), Applied: []model.AppliedObject{{}}}).View()
	add := func(resource string, f model.PortForward) func(store.View) (state.ForwardsChosen, error) {
		return func(v store.View) (state.ForwardsChosen, error) { return intent.AddForward(v, resource, f) }
	}
	remove := func(resource, address string) func(store.View) (state.ForwardsChosen, error) {
		return func(v store.View) (state.ForwardsChosen, error) { return intent.RemoveForward(v, resource, address) }
	}
	change := func(address string, local int) func(store.View) (state.ForwardsChosen, error) {
		return func(v store.View) (state.ForwardsChosen, error) {
			return intent.ChangeForward(v, "web", address, local)
		}
	}
	chosen := func(resource string, removed, added []model.PortForward) state.ForwardsChosen {
		return state.ForwardsChosen{Resource: model.ManifestName(resource), Removed: removed, Added: added}
	}
	list := func(f model.PortForward) []model.PortForward { return []model.PortForward{f} }
	impossible := func(text string) refusal { return refusal{intent.Impossible, text} }
	const inUse = "port 8080 is already forwarded to resource \"web\"\n  choose another local port, or remove that one: hone forwards remove web 8080"
	for _, tc := range []struct {
		name    string
		do      func(store.View) (state.ForwardsChosen, error)
		want    state.ForwardsChosen
		refused refusal
	}{
		{"add", add("api", model.PortForward{LocalPort: 8081, ContainerPort: 80}), chosen("api", nil, list(model.PortForward{LocalPort: 8081, ContainerPort: 80})), refusal{}},
		{"add on another host", add("api", model.PortForward{LocalPort: 8080, Host: "127.0.0.3"}),
			chosen("api", nil, list(model.PortForward{LocalPort: 8080, Host: "127.0.0.3"})), refusal{}},
		{"add a port in use", add("api", model.PortForward{LocalPort: 8080}), state.ForwardsChosen{}, impossible(inUse)},
		{"add a port in use, by name", add("web", model.PortForward{LocalPort: 8080, Host: "localhost"}), state.ForwardsChosen{},
			impossible("port localhost:8080 is already forwarded to resource \"web\"\n  choose another local port, or remove that one: hone forwards remove web 8080")},
		{"add on all hosts", add("api", model.PortForward{LocalPort: 9000, Host: "0.0.0.0"}), state.ForwardsChosen{},
			impossible("port 0.0.0.0:9000 is already forwarded to resource \"web\"\n  choose another local port, or remove that one: hone forwards remove web 127.0.0.2:9000")},
		{"add no port", add("api", model.PortForward{LocalPort: 70000}), state.ForwardsChosen{}, refusal{intent.Invalid, "a port forward has ports from 1 to 65535, not 70000:0"}},
		{"add to a local resource", add("gen", model.PortForward{LocalPort: 1}), state.ForwardsChosen{},
			impossible("resource \"gen\" runs on this machine, so that its ports need no forward\n  show its address with links=[…] in the Tiltfile")},
		{"add to objects without pods", add("settings", model.PortForward{LocalPort: 1}), state.ForwardsChosen{},
			impossible("resource \"settings\" has no pods that a port could be forwarded to\n  choose the resource whose pods listen on the port")},
		{"add to Compose", add("db", model.PortForward{LocalPort: 1}), state.ForwardsChosen{},
			impossible("resource \"db\" is a service of Compose, whose ports the engine publishes\n  declare the port in the Compose file: ports: [\"8080:80\"]")},
		{"add to a disabled resource", add("off", model.PortForward{LocalPort: 1}), state.ForwardsChosen{},
			impossible("resource \"off\" is disabled\n  enable it first: hone enable off")},
		{"add to nothing", add("", model.PortForward{LocalPort: 1}), state.ForwardsChosen{}, refusal{intent.Invalid, "must specify a resource"}},
		{"remove", remove("web", "127.0.0.2:9000"), chosen("web", list(web.K8s.PortForwards[1]), nil), refusal{}},
		{"remove what is not there", remove("web", "9000"), state.ForwardsChosen{},
			refusal{intent.Unknown, "resource \"web\" has no port forward on \"9000\"\n  its port forwards listen on 8080, 127.0.0.2:9000, 7000"}},
		{"change", change("8080", 8081), chosen("web", list(web.K8s.PortForwards[0]), list(model.PortForward{LocalPort: 8081, ContainerPort: 80, Name: "page"})), refusal{}},
		{"change, to where its pod listens", change("7000", 7001), chosen("web", list(web.K8s.PortForwards[2]), list(model.PortForward{LocalPort: 7001, ContainerPort: 5000})), refusal{}},
		{"change to the same", change("8080", 8080), state.ForwardsChosen{}, impossible("port 8080 of resource \"web\" is local port 8080 already")},
		{"change to a port in use", change("7000", 8080), state.ForwardsChosen{}, impossible(inUse)},
	} {
		got, err := tc.do(v)
		if diff := cmp.Diff(tc.refused, refusalOf(err), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%s: refusal (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
