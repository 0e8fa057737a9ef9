package projection

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// six are the resources of the random session.
var six = []string{"alpha", "bravo", "carol", "delta", "echo", "fox"}

// declares returns a Tiltfile that declares some of the six.
func declares(names ...string) state.TiltfileLoaded {
	var ms []model.Manifest
	for i, n := range names {
		m := statetest.K8s(n, statetest.Image(n))
		switch i % 3 {
		case 1:
			m = statetest.Local(n)
			m.Local.Serve = model.Cmd{Argv: []string{"serve"}}
		case 2:
			m.K8s.PortForwards = []model.PortForward{{LocalPort: 8000 + i}}
		}
		ms = append(ms, m)
	}
	l := statetest.Loaded(ms...)
	l.Result.APIObjects = shopObjects()
	return l
}

// something returns a random action and the resource that it affects; empty if it affects more than one.
func something(r *rand.Rand, s *statetest.State) (store.Action, string) {
	n := six[r.IntN(len(six))]
	name := model.ManifestName(n)
	u := state.Updates.In(s.View()).Value(n)
	switch r.IntN(22) {
	case 0:
		return state.BuildStarted{Resource: name, Serial: u.Serial + 1, At: s.Snapshot().At, Span: "build:" + n}, ""
	case 1, 2:
		done := state.BuildCompleted{Resource: name, Serial: u.Serial, At: s.Now, Deployed: true, Images: map[string]model.ImageResult{
			n: {Local: n + ":1", Cluster: n + ":1", StartedAt: s.Now}},
			Applied: []model.AppliedObject{{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "default", Name: n}, UID: "uid-" + n}}}
		if r.IntN(3) == 0 {
			done.Deployed, done.Err = false, "no"
		}
		return done, ""
	case 3:
		return statetest.Change(n, fmt.Sprintf("/src/%s/%d", n, r.IntN(5))), n
	case 4, 5:
		p := statetest.Pod(n, n+"-1", "c-"+n, n+":1")
		p.Pod.Ready = r.IntN(2) == 0
		return p, n
	case 6:
		return state.PodGone{Pod: model.Pod{UID: "uid-" + n + "-1", Resource: name}}, n
	case 7:
		return statetest.Healthy(n), n
	case 8:
		return state.ForwardChanged{ID: n + "/8000", Forward: state.Forward{Resource: name, URL: fmt.Sprintf("http://localhost:%d/", r.IntN(3)), State: state.ForwardReady}}, n
	case 9:
		return state.ForwardClosed{ID: n + "/8000"}, n
	case 10:
		return state.ProcessChanged{Process: state.Process{Resource: name, PID: r.IntN(3), State: state.ProcessRunning, Ready: r.IntN(2) == 0}}, n
	case 11:
		return state.ResourcesSwitched{Off: []model.ManifestName{name}}, ""
	case 12, 13:
		return state.ResourcesSwitched{On: []model.ManifestName{name}}, ""
	case 14:
		return state.TriggerModeChosen{Names: []model.ManifestName{name}, Mode: model.TriggerMode(r.IntN(2))}, n
	case 15:
		return state.ResourcesTriggered{Names: []model.ManifestName{name}}, ""
	case 16:
		l := declares(six...)
		if r.IntN(2) == 0 {
			l = statetest.OnEu(l, "alpha", "delta")
			l.Result.Clusters[0].Name = []string{"eu", "west"}[r.IntN(2)]
		}
		if r.IntN(2) == 0 {
			l.Result.Manifests = append(l.Result.Manifests[:2], l.Result.Manifests[3:]...)
			l.Result.Secrets = []model.Secret{{Name: "s", Key: "k", Value: "src/alpha"}}
		}
		return l, ""
	case 17:
		return state.ButtonClicked{Button: "lint", Inputs: map[string]string{"WHO": fmt.Sprint(r.IntN(3))}}, "lint"
	case 18:
		return state.CommandReported{Name: "lint", PID: r.IntN(3)}, "lint"
	case 19:
		return state.ObjectsDeclared{ConfigMaps: []model.ConfigMap{{Name: "switches", Data: map[string]string{"lint": fmt.Sprint(r.IntN(2) == 0)}}}}, ""
	case 20:
		return state.ResourcesReady{Names: []model.ManifestName{name}}, n
	}
	return state.ClusterReported{On: []string{"", statetest.Eu}[r.IntN(2)], Connected: r.IntN(2) == 0}, ""
}

// seen is the data that a reader has of an object.
type seen struct {
	key  any
	text string
}

// compact returns an object in one line.
func compact(t testing.TB, o Object) string {
	t.Helper()
	out, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func look(t testing.TB, v store.View) map[string]seen {
	out := map[string]seen{}
	for _, k := range All() {
		for i := range k.Items(v) {
			text := compact(t, i.Make())
			out[k.Name+" "+i.Name] = seen{i.Key, text}
			if alone := compact(t, i.Alone().Make()); alone != text {
				t.Errorf("%s %s alone:\n%s\n%s", k.Name, i.Name, text, alone)
			}
		}
	}
	return out
}

// TestKeys dispatches random actions. Whenever an object changes, its key must change, too. The key of an unchanged object may
// change only when an action affects its own resource.
func TestKeys(t *testing.T) {
	for run := range 6 {
		r := rand.New(rand.NewPCG(uint64(run), 7))
		s := statetest.New(sessionStarted()).Then(statetest.Connected()...).Then(declares(six...))
		before := look(t, s.View())
		for step := range 120 {
			action, about := something(r, s)
			after := look(t, s.Then(action).View())
			for name, is := range after {
				was, known := before[name]
				switch {
				case !known:
				case was.text != is.text && was.key == is.key:
					t.Fatalf("run %d, step %d, %T: %s has changed, its key has not:\n%s\n%s", run, step, action, name, was.text, is.text)
				case was.text == is.text && was.key != is.key && about != "" && !strings.Contains(name, about) && !strings.HasPrefix(name, "Session "):
					t.Errorf("run %d, step %d, %T about %s: the key of %s has changed without need", run, step, action, about, name)
				}
			}
			before = after
		}
	}
}

// TestKeysOfAnEvaluationWithoutAChange compares all keys before and after an evaluation of the Tiltfile with the same result.
func TestKeysOfAnEvaluationWithoutAChange(t *testing.T) {
	load := func() state.TiltfileLoaded {
		l := declares(six...)
		l.Result.Secrets = []model.Secret{{Name: "s", Key: "k", Value: password}}
		return l
	}
	s := statetest.New(sessionStarted()).Then(load())
	before := look(t, s.View())
	for name, is := range look(t, s.Then(load()).View()) {
		own := strings.HasSuffix(name, "kept") || strings.Contains(name, "(Tiltfile)") || strings.HasPrefix(name, "Session ")
		if before[name].key != is.key && !own {
			t.Errorf("the key of %s has changed", name)
		}
	}
}
