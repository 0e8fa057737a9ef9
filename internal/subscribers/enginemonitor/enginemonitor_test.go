package enginemonitor

import (
	"context"
	"errors"
	"strings"
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
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a container engine that answers unless it is down.
type engine struct {
	down  atomic.Bool
	pings atomic.Int64
	// silent and slow are about Alive, pulses counts its calls.
	silent atomic.Bool
	slow   atomic.Int64
	pulses atomic.Int64
	starts atomic.Bool
}

func (e *engine) Ping(context.Context) (docker.Info, error) {
	e.pings.Add(1)
	if e.starts.Load() {
		return docker.Info{}, docker.BuilderStarting(errors.New("Pending"), "it is starting", "wait")
	}
	if e.down.Load() {
		return docker.Info{}, problem.New("no container engine", "start one")
	}
	return docker.Info{Version: "29.0", OS: "linux", Arch: "arm64", Host: "unix:///d.sock"}, nil
}

// Alive does not answer while the engine is silent.
func (e *engine) Alive(ctx context.Context) error {
	e.pulses.Add(1)
	time.Sleep(time.Duration(e.slow.Load()))
	if e.silent.Load() {
		<-ctx.Done()
		return problem.New("the engine answers nothing", "look at it")
	}
	if e.down.Load() {
		return problem.New("no container engine", "start one")
	}
	return ctx.Err()
}

// TestSilence: an engine that runs services of Compose and stops answering is noticed within three seconds.
func TestSilence(t *testing.T) {
	for _, phase := range []time.Duration{0, 100 * time.Millisecond, 499 * time.Millisecond, 15 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := &engine{}
			a := statetest.Start(t, New(e)).Then(statetest.Session, statetest.Loaded(model.Manifest{Name: "db", AutoInit: true, Compose: &model.ComposeTarget{Service: "db"}}))
			e.slow.Store(int64(2 * time.Second))
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				if synctest.Wait(); !state.TheEngine(a.View()).Connected {
					t.Fatal("a slow engine counts as silent")
				}
			}
			e.slow.Store(0)
			time.Sleep(2*time.Second + phase)
			e.silent.Store(true)
			began := time.Now()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			got := state.TheEngine(a.View())
			if got.Connected || got.Err != "the engine answers nothing\n  look at it" || began.Sub(got.Lost) > time.Second || got.Lost.After(began) {
				t.Errorf("%+v, silent since %s", got, began)
			}
			e.silent.Store(false)
			time.Sleep(pollFailing)
			if synctest.Wait(); !state.TheEngine(a.View()).Connected {
				t.Error("it is back, and that was not reported")
			}
		})
	}
}

// TestNoPulseWithoutServices: an engine that only builds images is not pinged all the time.
func TestNoPulseWithoutServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		statetest.Start(t, New(e)).Then(statetest.Session, statetest.Loaded(statetest.K8s("web", statetest.Image("web"))))
		time.Sleep(time.Hour)
		if e.pulses.Load() != 0 {
			t.Errorf("%d pings", e.pulses.Load())
		}
	})
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
		want := state.Engine{Contact: state.Contact{Connected: true, Ever: true}, Version: "29.0", Host: "unix:///d.sock", Platform: "linux/arm64"}
		got := state.TheEngine(a.View())
		since := got.Since
		got.Since = want.Since
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the engine (-want +got):\n%s", diff)
		}
		e.down.Store(true)
		time.Sleep(pollHealthy)
		synctest.Wait()
		if got := state.TheEngine(a.View()); got.Connected || !got.Ever || got.Err != "no container engine\n  start one\n  or build in the cluster, without an engine: --builder kubernetes" || !got.Since.After(since) {
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

// String names the engine as a builder.
func (e *engine) String() string { return "far" }

// TestElsewhere: the builder of images in place of the engine is asked, and the engine itself only if it runs services.
func TestElsewhere(t *testing.T) {
	for _, tt := range []struct {
		manifest             model.Manifest
		engineDown, awayDown bool
		connected            bool
	}{
		{model.Manifest{Name: "api", Images: []model.ImageTarget{{Ref: "api", Docker: &model.DockerBuild{}}}}, true, false, true},
		{model.Manifest{Name: "api", Images: []model.ImageTarget{{Ref: "api", Docker: &model.DockerBuild{}}}}, false, true, false},
		{model.Manifest{Name: "db", Compose: &model.ComposeTarget{Service: "db"}}, true, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, away := &engine{}, &engine{}
			e.down.Store(tt.engineDown)
			away.down.Store(tt.awayDown)
			tt.manifest.AutoInit = true
			a := statetest.Start(t, New(e).With(func(model.Builder) Builder { return away })).Then(statetest.Session, statetest.Loaded(tt.manifest))
			synctest.Wait()
			got := state.TheEngine(a.View())
			if got.Connected != tt.connected || got.Err == "" != tt.connected {
				t.Errorf("%s: %+v", tt.manifest.Name, got)
			}
			ofEngine := tt.engineDown && !tt.connected && !tt.awayDown
			if want := map[bool]string{true: "container engine", false: "builder far"}[ofEngine]; got.Title() != want {
				t.Errorf("%s: %s, want %s", tt.manifest.Name, got.Title(), want)
			}
		})
	}
}

// TestAnotherBuilder: the Tiltfile declares another builder, which is asked at once. Its name is known before it has answered.
func TestAnotherBuilder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, far := &engine{}, &engine{}
		manifest := model.Manifest{Name: "api", AutoInit: true, Images: []model.ImageTarget{{Ref: "api", Docker: &model.DockerBuild{}}}}
		a := statetest.Start(t, New(e).With(func(declared model.Builder) Builder {
			if declared.At == "" {
				return nil
			}
			return far
		})).Then(statetest.Session, statetest.Loaded(manifest))
		synctest.Wait()
		if got := state.TheEngine(a.View()); !got.Connected || got.Title() != "container engine" {
			t.Errorf("the engine: %+v", got)
		}
		far.down.Store(true)
		far.starts.Store(true)
		began := time.Now()
		other := statetest.Loaded(manifest)
		other.Result.Builder = model.Builder{At: "far"}
		a.Then(other)
		synctest.Wait()
		if got := state.TheEngine(a.View()); got.Connected || got.Title() != "builder far" || !got.Starting || time.Since(began) > 0 {
			t.Errorf("another builder, after %s: %+v", time.Since(began), got)
		}
	})
}

// TestOffersCluster: the problem of an engine that does not answer names the way to build without one, except where the engine runs services.
func TestOffersCluster(t *testing.T) {
	for _, tt := range []struct {
		manifest model.Manifest
		offers   bool
	}{
		{model.Manifest{Name: "api", Images: []model.ImageTarget{{Ref: "api", Docker: &model.DockerBuild{}}}}, true},
		{model.Manifest{Name: "db", Compose: &model.ComposeTarget{Service: "db"}}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := &engine{}
			e.down.Store(true)
			tt.manifest.AutoInit = true
			a := statetest.Start(t, New(e)).Then(statetest.Session, statetest.Loaded(tt.manifest))
			synctest.Wait()
			got := state.TheEngine(a.View())
			if offers := strings.Contains(got.Err, "--builder kubernetes") && strings.Contains(got.Problem.Mend, "--builder kubernetes"); offers != tt.offers {
				t.Errorf("%s: %+v", tt.manifest.Name, got)
			}
		})
	}
}
