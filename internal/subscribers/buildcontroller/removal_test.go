package buildcontroller

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func leaving(f *fixture, name string) string {
	e := state.Resources.In(f.View()).Ref(name)
	if e == nil {
		return "gone"
	}
	return fmt.Sprintf("%s %v", e.Phase, e.Finalizers)
}

func TestRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a"), statetest.K8s("b"))
		f.builder.mu.Lock()
		a := f.builder.running["a"]
		f.builder.mu.Unlock()
		a.req.Commit()
		f.Then(statetest.Loaded(statetest.K8s("b")))
		if a.ctx.Err() == nil {
			t.Error("the build of a removed resource was not cancelled")
		}
		if got, want := leaving(f, "a"), "tearing-down [Other]"; got != want {
			t.Errorf("after the build ended: %s, want %s", got, want)
		}
		f.Release("a", "Other")
		synctest.Wait()
		if got := leaving(f, "a"); got != "gone" {
			t.Errorf("after all have released it: %s", got)
		}
		f.running("b")
		f.deploy("b")
	})
}

// stubbornly starts a BuildController whose builds do not end when they are cancelled.
func stubbornly(t *testing.T, manifests ...model.Manifest) *fixture {
	f := &fixture{t: t, builder: &builder{running: map[string]*call{}, stubborn: true}, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(f.builder, f.logs, Options{}), "Other")
	f.Then(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(manifests...))
	f.Then(statetest.Connected()...)
	return f
}

func TestRemovalWaitsForTheBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := stubbornly(t, statetest.K8s("a"))
		f.Then(statetest.Loaded())
		if got, want := leaving(f, "a"), "tearing-down [Other BuildController]"; got != want {
			t.Errorf("while the build runs: %s, want %s", got, want)
		}
		f.finish("a", outcome{err: errors.New("stopped")})
		if got, want := leaving(f, "a"), "tearing-down [Other]"; got != want {
			t.Errorf("after the build ended: %s, want %s", got, want)
		}
	})
}

func TestRebirthDuringTheBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := stubbornly(t, statetest.K8s("a"))
		f.Then(statetest.Loaded(), statetest.Loaded(statetest.K8s("a")))
		f.finish("a", outcome{err: errors.New("stopped")})
		if got, want := leaving(f, "a"), "tearing-down [Other]"; got != want {
			t.Fatalf("after the build ended: %s, want %s", got, want)
		}
		f.Release("a", "Other")
		synctest.Wait()
		f.running("a")
		f.deploy("a")
		if got, want := f.last("a"), `1 initial build err="" cancelled=false`; got != want {
			t.Errorf("after the rebirth: %s, want %s", got, want)
		}
	})
}

func TestStopEndsBuilds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a"), statetest.Local("b"))
		f.running("a b")
		f.Stop()
		f.running("")
		if got, want := f.last("a"), `1 initial build err="" cancelled=true`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
