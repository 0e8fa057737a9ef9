package collector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fixture struct {
	*statetest.Alone
	t            *testing.T
	cluster      *cluster
	engine       *dockertest.Fake
	downCommands *downCommands
	logs         *logstore.Store
}

// start runs a Collector on a cluster whose ledger has the given resources.
func start(t *testing.T, recorded ...model.ManifestName) *fixture {
	memory := ledgerWith(t, recorded...)
	f := &fixture{t: t, cluster: &cluster{memory: memory}, engine: dockertest.New(), logs: statetest.Logs(t)}
	f.downCommands = &downCommands{cluster: f.cluster, commands: map[model.ManifestName]model.Cmd{}}
	f.Alone = statetest.Start(t, New(f.cluster, f.engine, f.downCommands, f.logs, Options{}), "Other")
	f.Then(statetest.Session)
	return f
}

func (f *fixture) check(what, removed, resources string) {
	f.t.Helper()
	synctest.Wait()
	if got := f.cluster.log(); got != removed {
		f.t.Errorf("%s: removed %q, want %q", what, got, removed)
	}
	var names []string
	for _, e := range state.Ordered(f.View()) {
		names = append(names, e.ID)
	}
	if got := strings.Join(names, " "); got != resources {
		f.t.Errorf("%s: resources %q, want %q", what, got, resources)
	}
}

func connected() state.ClusterReported { return state.ClusterReported{Connected: true} }

func TestIsTheLastToLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.Then(connected(), statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"), statetest.Local("l")))
		f.Then(statetest.Loaded(statetest.K8s("b")))
		f.check("others still hold it", "", "b a l")
		f.Release("a", "Other")
		f.check("now it is the last", "a", "b l")
		f.Release("l", "Other")
		f.check("a local resource has no objects", "a", "b")
		if text := statetest.Texts(f.logs, "a"); len(text) != 1 || !strings.Contains(text[0], "no longer declares") {
			t.Errorf("log: %v", text)
		}
	})
}

func TestCollectsWhatIsSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "c")
		some := statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"), statetest.K8s("c"))
		some.Result.Enabled = []model.ManifestName{"a", "b"}
		f.Then(connected(), some)
		f.check("never enabled in this session: what an earlier one applied stays", "", "a b")
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"a"}})
		f.check("others still hold it", "", "b a")
		f.Release("a", "Other")
		f.check("by the user", "a", "b")
		fewer := some
		fewer.Result.Enabled = []model.ManifestName{"c"}
		f.Then(fewer)
		f.Release("b", "Other")
		f.check("by the Tiltfile", "a b", "c")
		if text := statetest.Texts(f.logs, "a"); len(text) != 1 || !strings.Contains(text[0], "switched off") {
			t.Errorf("log: %v", text)
		}
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"c"}}, state.ResourcesSwitched{On: []model.ManifestName{"c"}})
		f.Release("c", "Other")
		f.check("switched off and on again at once", "a b", "c")
	})
}

func TestKeepsWhatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.Then(connected(), statetest.Loaded(statetest.K8s("a")), statetest.Loaded(), statetest.Loaded(statetest.K8s("a")))
		f.Release("a", "Other")
		f.check("declared again", "", "a")
	})
}

// TestWaitsForRest: a file that changes and changes back takes nothing along.
func TestWaitsForRest(t *testing.T) {
	config := []state.FileChange{{Target: model.TargetID{Type: model.TargetConfigs, Name: "(Tiltfile)"}, Paths: []string{"/src/Tiltfile"}}}
	noticed, changed := state.FilesNoticed{Changes: config}, state.FilesChanged{Changes: config}
	loaded := func(m ...model.Manifest) state.TiltfileLoaded {
		l := statetest.Loaded(m...)
		l.At = time.Now()
		return l
	}
	for pause := 20 * time.Millisecond; pause <= 200*time.Millisecond; pause += 20 * time.Millisecond {
		for _, name := range []string{"stays away", "comes back", "comes back before it is read", "is broken meanwhile"} {
			t.Run(fmt.Sprintf("%s after %s", name, pause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := start(t)
					a, b := statetest.K8s("a"), statetest.K8s("b")
					reads := func(l state.TiltfileLoaded) {
						f.Then(changed)
						time.Sleep(time.Millisecond)
						f.Then(state.TiltfileStarted{At: time.Now()})
						f.Then(l)
					}
					f.Then(connected(), loaded(a, b))
					f.Then(noticed)
					reads(loaded(b))
					f.Release("a", "Other")
					time.Sleep(pause)
					f.check("at once", "", "b a")
					switch name {
					case "stays away":
						time.Sleep(time.Second - pause)
						f.check("at rest", "a", "b")
						return
					case "comes back before it is read":
						f.Then(noticed)
						time.Sleep(time.Second - pause)
						f.check("a second after the first change", "", "b a")
					case "is broken meanwhile":
						f.Then(noticed)
						reads(state.TiltfileLoaded{Err: "conflict", At: time.Now()})
						time.Sleep(time.Minute)
						f.check("broken", "", "b a")
					default:
						f.Then(noticed)
					}
					reads(loaded(a, b))
					time.Sleep(2 * time.Second)
					f.check("in the end", "", "a b")
				})
			})
		}
	}
}

// A resource that comes and goes is collected each time, although each of its lives counts its changes from 1.
func TestCollectsInEachLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{memory: ledgerWith(t)}
		a := statetest.Start(t, New(c, nil, nil, statetest.Logs(t), Options{})).Then(statetest.Session, connected())
		for life := range 3 {
			a.Then(statetest.Loaded(statetest.K8s("a")), statetest.Loaded())
			synctest.Wait()
			if n := state.Resources.In(a.View()).Len(); n != 0 || len(c.removed) != life+1 {
				t.Errorf("life %d: %d resources are left; removed %q", life, n, c.log())
			}
		}
	})
}

func TestSweepsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old", "a")
		tf := statetest.Loaded(statetest.K8s("a"))
		f.Then(connected())
		f.check("the Tiltfile may declare anything", "", "")
		f.Then(state.ClusterReported{Err: "gone"}, tf)
		f.check("the cluster does not answer", "", "a")
		f.Then(connected())
		f.check("leftovers of an earlier session", "old", "a")
		f.Then(tf, state.ClusterReported{Err: "gone"}, connected())
		f.check("once", "old", "a")
	})
}

func TestTriesAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old")
		f.cluster.fail(problem.New("forbidden", "ask for the right"))
		f.Then(statetest.Loaded(statetest.K8s("a")), connected())
		f.check("no ledger", "", "a")
		f.cluster.mu.Lock()
		opened := f.cluster.opened
		f.cluster.mu.Unlock()
		if opened != 1 {
			t.Errorf("the ledger was asked for %d times at once", opened)
		}
		f.cluster.fail(nil)
		time.Sleep(retry)
		f.check("swept after a pause", "old", "a")
		f.cluster.fail(errors.New("timeout"))
		f.Then(statetest.Loaded())
		f.Release("a", "Other")
		f.check("the deletion failed", "old a", "a")
		time.Sleep(2 * retry)
		f.check("and again", "old a a a", "a")
		f.cluster.fail(nil)
		time.Sleep(retry)
		f.check("and went through", "old a a a a", "")
		time.Sleep(time.Hour)
		f.check("that is all", "old a a a a", "")
		if text := strings.Join(statetest.Texts(f.logs, "a"), "\n"); !strings.Contains(text, "delete the objects of a: timeout") {
			t.Errorf("log: %s", text)
		}
	})
}

func TestWithoutAClusterResourcesAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := statetest.Start(t, New(nil, nil, nil, statetest.Logs(t), Options{})).Then(statetest.Session, connected(), statetest.Loaded(statetest.K8s("a")), statetest.Loaded())
		if n := state.Resources.In(a.View()).Len(); n != 0 {
			t.Errorf("%d resources are left", n)
		}
	})
}

// A resource goes after those that depend on it, also when they are held longer or cannot be deleted at first.
func TestDependentsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		operator, mid, db := statetest.K8s("a-operator"), statetest.K8s("b-mid"), statetest.K8s("c-db")
		mid.ResourceDeps, db.ResourceDeps = []model.ManifestName{"a-operator"}, []model.ManifestName{"b-mid"}
		f.Then(connected(), statetest.Loaded(operator, mid, db))
		f.Then(statetest.Loaded())
		f.Release("a-operator", "Other")
		f.check("its dependents are held", "", "a-operator b-mid c-db")
		f.cluster.fail(errors.New("timeout"))
		f.Release("c-db", "Other")
		f.check("the first cannot be deleted", "c-db", "a-operator b-mid c-db")
		f.cluster.fail(nil)
		time.Sleep(retry)
		f.check("now it can, and the next is held", "c-db c-db", "a-operator b-mid")
		f.Release("b-mid", "Other")
		f.check("all of them", "c-db c-db b-mid a-operator", "")
	})
}

// A resource that does not go delays only the deletion of its dependencies.
func TestOneThatIsStuckHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old", "older")
		stuck, below := statetest.K8s("stuck"), statetest.K8s("below")
		stuck.ResourceDeps = []model.ManifestName{"below"}
		others := []model.Manifest{stuck, below}
		released := make(chan struct{})
		f.cluster.stuck = map[model.ManifestName]chan struct{}{"old": released, "stuck": released}
		var crowd []string
		for i := range 2 * atOnce { // stuck deletions take all turns twice over
			name := fmt.Sprintf("crowd-%02d", i)
			crowd = append(crowd, name)
			f.cluster.stuck[model.ManifestName(name)] = released
			others = append(others, statetest.K8s(name))
		}
		last := statetest.K8s("last")
		f.Then(connected(), statetest.Loaded(append(others, last)...))
		synctest.Wait()
		if got := f.cluster.log(); got != "old older" && got != "older old" {
			t.Errorf("the sweep removed %q", got)
		}
		f.Then(statetest.Loaded(last))
		for _, name := range append(crowd, "stuck", "below") {
			f.Release(name, "Other")
		}
		f.Then(statetest.Loaded())
		f.Release("last", "Other")
		time.Sleep(3 * patience)
		synctest.Wait()
		if got := f.cluster.log(); strings.Contains(got, "below") || !strings.Contains(got, "last") || !strings.Contains(got, "stuck") {
			t.Errorf("while some are stuck: removed %q, want all but the one that a stuck one depends on", got)
		}
		if state.Resources.In(f.View()).Ref("last") != nil {
			t.Error("a deleted resource has not been released")
		}
		close(released)
		synctest.Wait()
		if n := state.Resources.In(f.View()).Len(); n != 0 || !strings.HasSuffix(f.cluster.log(), "below") {
			t.Errorf("in the end %d resources are left; removed %q", n, f.cluster.log())
		}
		f.cluster.mu.Lock()
		defer f.cluster.mu.Unlock()
		seen := map[string]bool{}
		for _, name := range f.cluster.removed {
			if seen[name] {
				t.Errorf("%s was removed twice", name)
			}
			seen[name] = true
		}
	})
}

// Deletions that run when the session ends are abandoned before Run returns.
func TestStopsWhileSomethingIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old")
		f.cluster.stuck = map[model.ManifestName]chan struct{}{"old": make(chan struct{})}
		f.Then(connected(), statetest.Loaded())
		f.check("it hangs", "old", "")
	})
}

// TestRemovesContainers removes the containers of a Compose service that leaves or is switched off, and no others.
func TestRemovesContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		add := func(id, project, service, oneOff string) {
			f.engine.AddContainer(id, dockertest.Container{Name: id, Labels: map[string]string{
				model.ComposeProjectLabel: project, model.ComposeServiceLabel: service, model.ComposeOneOffLabel: oneOff}})
		}
		add("a-1", "shop", "a", "False")
		add("a-2", "shop", "a", "False")
		add("a-run", "shop", "a", "True")
		add("b-1", "shop", "b", "False")
		add("foreign", "other", "a", "False")
		left := func(what, want string) {
			t.Helper()
			list, err := f.engine.ContainerStates(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, c := range list {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s: there are %s, want %s", what, got, want)
			}
		}
		f.Then(statetest.Loaded(statetest.Compose("a"), statetest.Compose("b")))
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"b"}})
		left("others still hold it", "a-1 a-2 a-run b-1 foreign")
		f.engine.Fail("RemoveContainer", errors.New("busy"))
		f.Release("b", "Other")
		f.Then()
		left("it could not be removed", "a-1 a-2 a-run b-1 foreign")
		time.Sleep(retry)
		synctest.Wait()
		left("tried again", "a-1 a-2 a-run foreign")
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"a"}}, state.ResourcesSwitched{On: []model.ManifestName{"a"}})
		f.Release("a", "Other")
		f.Then()
		left("switched off and on again at once", "a-1 a-2 a-run foreign")
		f.Then(statetest.Loaded(statetest.Compose("b")))
		f.Release("a", "Other")
		f.Then()
		left("left the Tiltfile", "a-run foreign")
		if text := statetest.Texts(f.logs, "a"); len(text) == 0 || !strings.Contains(text[0], "no longer declares") {
			t.Errorf("log: %v", text)
		}
	})
}

// TestLeavesLeftoversToASessionBeside sweeps when the other session has ended, and lets ci end meanwhile.
func TestLeavesLeftoversToASessionBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, cluster: &cluster{memory: ledgerWith(t, "old")}, engine: dockertest.New(), logs: statetest.Logs(t)}
		f.downCommands = &downCommands{cluster: f.cluster, commands: map[model.ManifestName]model.Cmd{"db": {Argv: []string{"undo"}}}, deps: ledger.Deps{"old": {"db"}}}
		var mu sync.Mutex
		others := []string{"session shop (hone up, pid 1)"}
		f.Alone = statetest.Start(t, New(f.cluster, f.engine, f.downCommands, f.logs, Options{Beside: func(context.Context) []string {
			mu.Lock()
			defer mu.Unlock()
			return others
		}}), "Other")
		f.Then(statetest.Session, connected(), statetest.Loaded(statetest.K8s("a")))
		f.check("another session runs", "", "a")
		if c := state.TheSession(f.View()).Collection; !c.Done {
			t.Errorf("ci waits for what is another session's: %+v", c)
		}
		time.Sleep(3 * retry)
		f.check("it still runs", "", "a")
		if text := statetest.Texts(f.logs, ""); len(text) != 1 || !strings.Contains(text[0], "session shop (hone up, pid 1) also works on this project") {
			t.Errorf("log: %q", text)
		}
		mu.Lock()
		others = nil
		mu.Unlock()
		time.Sleep(retry)
		f.check("it has ended", "old made by db", "a")
	})
}

// TestSaysWhenNothingIsLeft reports the end only after the last deletion, and counts failed attempts.
func TestSaysWhenNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old")
		f.cluster.fail(errors.New("timeout"))
		f.Then(connected(), statetest.Loaded(statetest.K8s("a")))
		time.Sleep(retry + time.Second)
		synctest.Wait()
		if c := state.TheSession(f.View()).Collection; c.Done || c.Failures != 2 || !strings.Contains(c.Err, "timeout") {
			t.Errorf("after two failures: %+v", c)
		}
		f.cluster.fail(nil)
		time.Sleep(retry)
		synctest.Wait()
		if c := state.TheSession(f.View()).Collection; !c.Done || c.Failures != 0 {
			t.Errorf("after it went through: %+v", c)
		}
	})
}

// TestBereftResourcesAreDeployedAgain requests a deploy of resources whose objects a delete command may have removed.
func TestBereftResourcesAreDeployedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old")
		f.cluster.bereft = []model.ManifestName{"a"}
		f.Then(connected(), statetest.Loaded(statetest.K8s("a")))
		if u := state.Updates.In(f.View()).Value("a"); len(u.Lost) != 1 {
			t.Errorf("lost: %v", u.Lost)
		}
	})
}

// built lets a deploy of a resource succeed.
func (f *fixture) built(name model.ManifestName) {
	serial := state.Updates.In(f.View()).Value(string(name)).Serial + 1
	f.Then(state.BuildStarted{Resource: name, Serial: serial, At: time.Now()})
	f.Then(state.BuildCompleted{Resource: name, Serial: serial, At: time.Now(), Deployed: true})
}

// TestFinishesWhatDeploysLeaveBehind checks that leftovers are deleted in the background, again after a failure, and not
// for resources that leave.
func TestFinishesWhatDeploysLeaveBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		done := make(chan struct{})
		f.cluster.stuck = map[model.ManifestName]chan struct{}{"rest of a": done}
		f.Then(connected(), statetest.Loaded(statetest.K8s("a"), statetest.K8s("b")))
		f.check("nothing is left behind", "", "a b")
		f.cluster.leave("a", "gone")
		f.built("a")
		f.check("a deploy has left something", "rest of a", "a b")
		f.built("b")
		f.check("it is not started twice", "rest of a", "a b")
		f.Then(statetest.Loaded(statetest.K8s("a")))
		f.Release("b", "Other")
		f.check("others are deleted meanwhile", "rest of a b", "a")
		f.cluster.fail(errors.New("timeout"))
		close(done)
		f.check("it failed", "rest of a b", "a")
		f.cluster.fail(nil)
		time.Sleep(retry)
		f.check("tried again", "rest of a b rest of a", "a")
		time.Sleep(time.Hour)
		f.check("that is all", "rest of a b rest of a", "a")
		if text := strings.Join(statetest.Texts(f.logs, "a"), "\n"); !strings.Contains(text, "delete what a no longer declares: timeout") {
			t.Errorf("log: %s", text)
		}
	})
}

// TestComesBackWhileItIsStuck does not wait for the leftovers of an earlier life of the resource.
func TestComesBackWhileItIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.cluster.stuck = map[model.ManifestName]chan struct{}{"a": make(chan struct{})}
		f.Then(connected(), statetest.Loaded(statetest.K8s("a")))
		f.Then(statetest.Loaded())
		f.Release("a", "Other")
		f.check("it is stuck", "a", "a")
		f.Then(statetest.Loaded(statetest.K8s("a")))
		f.check("it comes back", "a", "a")
		if e := state.Resources.In(f.View()).Ref("a"); e == nil || e.Phase != store.Running {
			t.Errorf("it still goes: %+v", e)
		}
		if text := strings.Join(statetest.Texts(f.logs, "a"), "\n"); strings.Contains(text, "cancel") {
			t.Errorf("log: %s", text)
		}
	})
}
