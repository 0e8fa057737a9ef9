package collector

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// downCommands has recorded down commands, and records with the cluster's removals which of them ran.
type downCommands struct {
	*cluster
	commands map[model.ManifestName]model.Cmd
	deps     ledger.Deps
}

func (d *downCommands) Recorded() (map[model.ManifestName]model.Cmd, ledger.Deps, error) {
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
func (f *fixture) record(deps ledger.Deps, names ...model.ManifestName) {
	f.downCommands.mu.Lock()
	defer f.downCommands.mu.Unlock()
	f.downCommands.deps = deps
	for _, name := range names {
		f.downCommands.commands[name] = model.Cmd{Argv: []string{"undo", string(name)}}
	}
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
		f := &fixture{t: t, cluster: &cluster{memory: ledgerWith(t)}, engine: dockertest.New(), logs: statetest.Logs(t)}
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
		f.record(ledger.Deps{"app": {"db"}}, "db", "off")
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
		f.record(ledger.Deps{"app": {"schema"}, "schema": {"db"}}, "db", "schema", "alone", "stays", "turned")
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

func TestAResourceThatTurnedLocalHasNoObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, "was", "a")
		f.Then(connected(), statetest.Loaded(statetest.K8s("a"), statetest.Local("was")))
		f.check("turned while hone did not run", "was", "a was")
		f.Then(statetest.Loaded(statetest.Local("a"), statetest.Local("was")))
		f.check("turned while it runs", "was a", "a was")
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
