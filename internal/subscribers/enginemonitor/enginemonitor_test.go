package enginemonitor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sync/atomic"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a container engine that answers unless it is down.
type engine struct {
	down  atomic.Bool
	pings atomic.Int64
}

func (e *engine) Ping(context.Context) (docker.Info, error) {
	e.pings.Add(1)
	if e.down.Load() {
		return docker.Info{}, problem.New("no container engine", "start one")
	}
	return docker.Info{Version: "29.0", OS: "linux", Arch: "arm64", Host: "unix:///d.sock"}, nil
}

func TestEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		a := statetest.Start(t, New(e)).Then(statetest.Session, statetest.Loaded(statetest.K8s("plain"), statetest.Local("gen")))
		time.Sleep(time.Hour)
		if n := e.pings.Load(); n != 0 {
			t.Errorf("an engine that is not needed was asked %d times", n)
		}
		a.Then(statetest.Loaded(statetest.K8s("web", statetest.Image("web"))))
		want := state.Engine{Connected: true, Ever: true, Version: "29.0", Host: "unix:///d.sock", Platform: "linux/arm64"}
		got := state.TheEngine(a.View())
		since := got.Since
		got.Since = want.Since
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the engine (-want +got):\n%s", diff)
		}
		e.down.Store(true)
		time.Sleep(pollHealthy)
		synctest.Wait()
		if got := state.TheEngine(a.View()); got.Connected || !got.Ever || got.Err != "no container engine\n  start one" || !got.Since.After(since) {
			t.Errorf("down: %+v", got)
		}
		e.down.Store(false)
		time.Sleep(pollFailing)
		synctest.Wait()
		if got := state.TheEngine(a.View()); !got.Connected || got.Err != "" {
			t.Errorf("back: %+v", got)
		}
		pings := e.pings.Load()
		e.down.Store(true)
		a.Then(state.BuildCompleted{Resource: "web", Cancelled: true, EngineErr: "refused"})
		if got := state.TheEngine(a.View()); got.Connected || e.pings.Load() != pings+1 {
			t.Errorf("a build found it gone: %+v after %d questions", got, e.pings.Load()-pings)
		}
		e.down.Store(false)
		time.Sleep(pollFailing)
		synctest.Wait()
		if !state.TheEngine(a.View()).Connected {
			t.Error("it is back, and that was not reported")
		}
	})
}
