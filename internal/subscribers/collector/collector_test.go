package collector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster has a real ledger and records removals.
type cluster struct {
	ledger *deploy.Ledger

	mu      sync.Mutex
	err     error
	opened  int
	removed []string
	// bereft are resources whose objects every removal takes along.
	bereft []model.ManifestName
	stuck  map[model.ManifestName]chan struct{}
	// guarded is the reason why nothing is deleted, kept are the resources that stay, and asked counts the decisions.
	guarded string
	kept    []model.ManifestName
	asked   int
	// leaving are resources whose deploys have left something behind.
	leaving []model.ManifestName
}

func (c *cluster) Leaving(context.Context) ([]model.ManifestName, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.leaving), nil
}

func (c *cluster) Finish(ctx context.Context, req buildanddeploy.RemoveRequest) error {
	name := req.Resource
	if err := req.Settled(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.removed = append(c.removed, "rest of "+string(name))
	stuck := c.stuck["rest of "+name]
	c.mu.Unlock()
	if stuck != nil {
		select {
		case <-stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.mu.Lock()
	err := c.err
	c.mu.Unlock()
	if err == nil {
		c.leave()
	}
	return err
}

func (c *cluster) leave(names ...model.ManifestName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = names
}

func (c *cluster) Kept(context.Context, func() []model.Manifest, func(model.ManifestName) bool, string) (buildanddeploy.Kept, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	k := buildanddeploy.Kept{Why: c.guarded, Guarded: c.guarded != ""}
	if k.Guarded {
		k.Resources = c.kept
	}
	return k, nil
}

func (c *cluster) Prune(_ context.Context, declared []model.Manifest, chosen func(model.ManifestName) bool, _ string, _ logstore.Logger) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed = append(c.removed, fmt.Sprintf("all but %d", len(declared)))
	if c.err == nil && chosen("any") {
		c.guarded = ""
	}
	return c.err
}

func (c *cluster) guard(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guarded = why
}

func (c *cluster) Ledger(context.Context) (*deploy.Ledger, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened++
	return c.ledger, c.err
}

func (c *cluster) Remove(ctx context.Context, req buildanddeploy.RemoveRequest) ([]model.ManifestName, error) {
	if req.Settled != nil {
		if err := req.Settled(ctx); err != nil {
			return nil, err
		}
	}
	if req.Undeclared && slices.ContainsFunc(req.Declared(), func(m model.Manifest) bool { return m.Name == req.Resource && m.IsK8s() }) {
		return nil, nil
	}
	logstore.Infof(req.Log, "Deleting %s, %s", req.Resource, req.Why)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(req.Enough, cancel)()
	return c.bereft, c.remove(ctx, req.Resource)
}

func (c *cluster) remove(ctx context.Context, name model.ManifestName) error {
	c.mu.Lock()
	c.removed = append(c.removed, string(name))
	err, stuck := c.err, c.stuck[name]
	c.mu.Unlock()
	if stuck != nil {
		select {
		case <-stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err != nil {
		return err
	}
	return c.ledger.Remove(name)
}

func (c *cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// log returns the objects that were removed so far.
func (c *cluster) log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.removed, " ")
}

type fixture struct {
	*statetest.Alone
	t            *testing.T
	cluster      *cluster
	engine       *dockertest.Fake
	downCommands *downCommands
	logs         *logstore.Store
}

// downCommands has recorded down commands, and records with the cluster's removals which of them ran.
type downCommands struct {
	*cluster
	commands map[model.ManifestName]model.Cmd
	deps     deploy.Deps
}

func (d *downCommands) Recorded() (map[model.ManifestName]model.Cmd, deploy.Deps, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.commands), d.deps, nil
}

func (d *downCommands) Remove(_ context.Context, req buildanddeploy.RemoveRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.commands[req.Resource]; !ok {
		return nil
	}
	d.removed = append(d.removed, "made by "+string(req.Resource))
	if d.err == nil {
		delete(d.commands, req.Resource)
	}
	return d.err
}

// record records down commands, as updates do.
func (f *fixture) record(deps deploy.Deps, names ...model.ManifestName) {
	f.downCommands.mu.Lock()
	defer f.downCommands.mu.Unlock()
	f.downCommands.deps = deps
	for _, name := range names {
		f.downCommands.commands[name] = model.Cmd{Argv: []string{"undo", string(name)}}
	}
}

// start runs a Collector on a cluster whose ledger has the given resources.
func start(t *testing.T, recorded ...model.ManifestName) *fixture {
	ledger := ledgerWith(t, recorded...)
	f := &fixture{t: t, cluster: &cluster{ledger: ledger}, engine: dockertest.New(), logs: statetest.Logs(t)}
	f.downCommands = &downCommands{cluster: f.cluster, commands: map[model.ManifestName]model.Cmd{}}
	f.Alone = statetest.Start(t, New(f.cluster, f.engine, f.downCommands, f.logs, Options{}), "Other")
	f.Then(statetest.Session)
	return f
}

func ledgerWith(t *testing.T, recorded ...model.ManifestName) *deploy.Ledger {
	ledger, err := deploy.Open(t.TempDir(), deploy.LedgerKey{Cluster: "c", Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range recorded {
		if err := ledger.Record(name, []deploy.ObjectRecord{{ObjectID: model.ObjectID{Kind: "ConfigMap", Name: string(name)}, APIVersion: "v1"}}); err != nil {
			t.Fatal(err)
		}
	}
	return ledger
}

func (f *fixture) check(what, removed, resources string) {
	f.t.Helper()
	synctest.Wait()
	if got := f.cluster.log(); got != removed {
		f.t.Errorf("%s: removed %q, want %q", what, got, removed)
	}
	var names []string
	for _, e := range state.InOrder(f.View()) {
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
		c := &cluster{ledger: ledgerWith(t)}
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

// A down command that fails is not repeated every few seconds: it is the user's.
func TestFailedDownCommandsAreRetriedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.record(nil, "db")
		f.cluster.fail(errors.New("exit code 1"))
		began := time.Now()
		f.Then(statetest.Loaded())
		for range 600 {
			time.Sleep(time.Second)
		}
		synctest.Wait()
		// At 0, 5, 15, 35, 75, 155 and 315 s.
		if got := strings.Count(f.cluster.log(), "made by db"); got != 7 {
			t.Errorf("it ran %d times in %s", got, time.Since(began))
		}
		f.cluster.fail(nil)
		time.Sleep(retryCommandMax)
		f.check("it works", strings.Repeat("made by db ", 7)+"made by db", "")
	})
}

// The products of a resource that leaves beside another session stay until that session has ended.
func TestDownCommandsWaitForASessionBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, cluster: &cluster{ledger: ledgerWith(t)}, engine: dockertest.New(), logs: statetest.Logs(t)}
		f.downCommands = &downCommands{cluster: f.cluster, commands: map[model.ManifestName]model.Cmd{}}
		var mu sync.Mutex
		others := []string{"session shop (hone up, pid 1)"}
		f.Alone = statetest.Start(t, New(f.cluster, f.engine, f.downCommands, f.logs, Options{Beside: func(context.Context) []string {
			mu.Lock()
			defer mu.Unlock()
			return others
		}}))
		f.Then(statetest.Session, statetest.Loaded(statetest.Local("db")))
		f.record(nil, "db")
		f.Then(statetest.Loaded())
		time.Sleep(3 * retry)
		f.check("another session runs", "", "")
		mu.Lock()
		others = nil
		mu.Unlock()
		time.Sleep(retry)
		f.check("it has ended", "made by db", "")
	})
}

// The down command of a local resource runs when its resource leaves the Tiltfile, after its dependents have gone, and not when it
// is switched off.
func TestTakesDownLocalResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		app := statetest.K8s("app")
		app.ResourceDeps = []model.ManifestName{"db"}
		f.Then(connected(), statetest.Loaded(app, statetest.Local("db"), statetest.Local("off")))
		f.record(deploy.Deps{"app": {"db"}}, "db", "off")
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"off"}})
		f.Release("off", "Other")
		f.check("switched off", "", "app db")
		f.Then(statetest.Loaded())
		f.Release("off", "Other")
		f.Release("db", "Other")
		f.check("what depends on it is held", "made by off", "app db")
		f.cluster.fail(errors.New("timeout"))
		f.Release("app", "Other")
		f.check("what depends on it cannot be deleted", "made by off app", "app db")
		f.cluster.fail(nil)
		time.Sleep(retry)
		f.check("one after the other", "made by off app app made by db", "")
	})
}

// The products of earlier sessions are taken down, too: after the objects of their dependents.
func TestTakesDownWhatEarlierSessionsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "app")
		f.record(deploy.Deps{"app": {"schema"}, "schema": {"db"}}, "db", "schema", "alone", "stays", "turned")
		f.Then()
		f.check("the Tiltfile may declare anything", "", "")
		f.Then(statetest.Loaded(statetest.Local("stays"), statetest.Local("turned")))
		f.check("the cluster does not answer", "made by alone", "stays turned")
		f.cluster.fail(errors.New("timeout"))
		f.Then(connected())
		f.check("the objects of what depends on them cannot be read", "made by alone", "stays turned")
		f.cluster.fail(nil)
		time.Sleep(retry)
		f.check("one after the other", "made by alone app made by schema made by db", "stays turned")
		f.Then(statetest.Loaded(statetest.Local("stays"), statetest.K8s("turned")))
		f.check("it became a resource of another kind", "made by alone app made by schema made by db made by turned", "stays turned")
		f.downCommands.mu.Lock()
		defer f.downCommands.mu.Unlock()
		if len(f.downCommands.commands) != 1 {
			t.Errorf("left: %v", f.downCommands.commands)
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

func TestAResourceThatTurnedLocalHasNoObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "was", "a")
		f.Then(connected(), statetest.Loaded(statetest.K8s("a"), statetest.Local("was")))
		f.check("turned while hone did not run", "was", "a was")
		f.Then(statetest.Loaded(statetest.Local("a"), statetest.Local("was")))
		f.check("turned while it runs", "was a", "a was")
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
		if _, there := state.Resources.In(f.View()).Get("last"); there {
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
		f := &fixture{t: t, cluster: &cluster{ledger: ledgerWith(t, "old")}, engine: dockertest.New(), logs: statetest.Logs(t)}
		f.downCommands = &downCommands{cluster: f.cluster, commands: map[model.ManifestName]model.Cmd{"db": {Argv: []string{"undo"}}}, deps: deploy.Deps{"old": {"db"}}}
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

// TestAChoiceLeavesOthersAlone runs one of several resources: undeclared objects of others stay, whether they were left by earlier
// sessions or while this one runs, until the session is about all of them.
func TestAChoiceLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old", "a", "b")
		f.record(nil, "db")
		loaded := func(enabled []model.ManifestName, manifests ...model.Manifest) state.TiltfileLoaded {
			l := statetest.Loaded(manifests...)
			l.Result.Enabled = enabled
			return l
		}
		some := []model.ManifestName{"a"}
		f.Then(connected(), loaded(some, statetest.K8s("a"), statetest.K8s("b")))
		f.check("it runs a", "", "a")
		if c := state.TheSession(f.View()).Collection; !c.Done {
			t.Errorf("it has nothing to delete: %+v", c)
		}
		f.Then(loaded(some, statetest.K8s("a")))
		f.Release("b", "Other")
		f.check("b has left, which it does not run", "", "a")
		f.Then(loaded(some))
		f.Release("a", "Other")
		f.check("a has left", "a", "")
		f.Then(loaded(nil, statetest.K8s("c")))
		synctest.Wait()
		if got := strings.Split(f.cluster.log(), " "); len(got) != 6 || !slices.Contains(got, "old") || !slices.Contains(got, "b") || !slices.Contains(got, "db") {
			t.Errorf("it runs all: removed %q", got)
		}
	})
}

// TestPruneGuardWaitsForTheUser says while the prune guard holds, looks again with each Tiltfile, and deletes when the user asks for it, once.
func TestPruneGuardWaitsForTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		says := func(what, want string) {
			t.Helper()
			synctest.Wait()
			if got := state.TheSession(f.View()).PruneGuard.Why; got != want {
				t.Errorf("%s: it says %q, want %q", what, got, want)
			}
		}
		f.Then(connected(), statetest.Loaded(statetest.K8s("a")))
		says("nothing is kept", "")
		f.cluster.guard("6 of 8")
		f.Then(statetest.Loaded())
		f.Release("a", "Other")
		says("much is kept", "6 of 8")
		f.check("the resource is let go", "", "")
		f.cluster.guard("7 of 8")
		f.Then(statetest.Loaded())
		says("the next Tiltfile", "7 of 8")
		f.cluster.fail(errors.New("timeout"))
		f.Then(state.PruneAllowed{})
		f.check("it is asked for", "all but 0", "")
		says("it has failed", "7 of 8")
		time.Sleep(time.Hour)
		f.check("only once", "all but 0", "")
		f.cluster.fail(nil)
		f.Then(state.PruneAllowed{})
		f.check("it is asked for again", "all but 0 all but 0", "")
		says("nothing is kept any more", "")
	})
}

// TestKeepsMuchAtOnce takes many resources out of the Tiltfile: that they are kept is decided and said once, not for each of them.
func TestKeepsMuchAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		var all []model.Manifest
		for i := range 180 {
			all = append(all, statetest.K8s(fmt.Sprint("r", i)))
			f.cluster.kept = append(f.cluster.kept, all[i].Name)
		}
		f.Then(connected(), statetest.Loaded(all...))
		synctest.Wait()
		f.cluster.guard("180 of 200 objects would be deleted")
		f.cluster.mu.Lock()
		before := f.cluster.asked
		f.cluster.mu.Unlock()
		f.Then(statetest.Loaded())
		for _, m := range all {
			f.Release(string(m.Name), "Other")
		}
		f.check("they are let go", "", "")
		f.cluster.mu.Lock()
		defer f.cluster.mu.Unlock()
		if asked := f.cluster.asked - before; asked != 1 {
			t.Errorf("that was decided %d times", asked)
		}
		text := statetest.Texts(f.logs, "")
		if want := "The objects of 180 resources, which the Tiltfile no longer declares, are kept: 180 of 200 objects would be deleted"; len(text) != 1 || !strings.Contains(text[0], want) {
			t.Errorf("log: %q, want %q once", text, want)
		}
	})
}

// TestSaysWhenNothingLocalIsLeft reports the end of down commands also where no cluster answers.
func TestSaysWhenNothingLocalIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.record(nil, "old")
		f.cluster.fail(errors.New("timeout"))
		f.Then(statetest.Loaded(statetest.Local("a")))
		synctest.Wait()
		if c := state.TheSession(f.View()).Collection; c.Done || c.LocalDone || c.Failures != 1 {
			t.Errorf("after a failure: %+v", c)
		}
		f.cluster.fail(nil)
		time.Sleep(retry)
		synctest.Wait()
		if c := state.TheSession(f.View()).Collection; c.Done || !c.LocalDone {
			t.Errorf("after it went through: %+v", c)
		}
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
		if e, ok := state.Resources.In(f.View()).Get("a"); !ok || e.Phase != store.Running {
			t.Errorf("it still goes: %+v", e)
		}
		if text := strings.Join(statetest.Texts(f.logs, "a"), "\n"); strings.Contains(text, "cancel") {
			t.Errorf("log: %s", text)
		}
	})
}

// TestAsksBeforeItDeletes: in a session that asks, resources that left the Tiltfile stay until the user has agreed after that, and
// leftovers of earlier sessions stay until the user has agreed at all. A resource that the user switches off goes at once.
func TestAsksBeforeItDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "old")
		session := statetest.Session
		session.Session.Confirmation.Asked = true
		held := func(want ...model.ManifestName) {
			t.Helper()
			if got := state.TheSession(f.View()).Confirmation.Leaving; !slices.Equal(got, want) {
				t.Errorf("%v wait for the user, want %v", got, want)
			}
		}
		f.Then(session, connected(), statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"), statetest.K8s("c"), statetest.Local("l")))
		f.check("nobody has agreed", "", "a b c l")
		f.Then(state.ChangesConfirmed{})
		f.check("what an earlier session has left", "old", "a b c l")
		f.Then(statetest.Loaded(statetest.K8s("b"), statetest.K8s("c")))
		f.Release("a", "Other")
		f.Release("l", "Other")
		f.check("they wait", "old", "b c a l")
		held("a", "l")
		f.Then(state.ResourcesSwitched{Off: []model.ManifestName{"c"}})
		f.Release("c", "Other")
		f.check("the user has asked for it", "old c", "b a l")
		f.Then(state.ChangesConfirmed{})
		f.check("the user has agreed", "old c a", "b")
		held()
		f.Then(statetest.Loaded())
		f.Release("b", "Other")
		f.check("to that, and not to this", "old c a", "b")
		held("b")
		f.Then(statetest.Loaded(statetest.K8s("b")))
		f.check("it came back", "old c a", "b")
		held()
	})
}
