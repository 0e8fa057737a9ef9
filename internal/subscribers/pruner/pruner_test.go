package pruner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"go.uber.org/goleak"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine records its requests.
type engine struct {
	mu    sync.Mutex
	calls []string
	done  imagebuild.Pruned
	err   error
}

func (e *engine) Prune(_ context.Context, req imagebuild.PruneRequest) (imagebuild.Pruned, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, fmt.Sprintf("%s of %s keep %s", req.Settings.MaxAge, strings.Join(req.Of, " "), strings.Join(req.Keep, " ")))
	return e.done, e.err
}

func (e *engine) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.calls)
}

type fixture struct {
	*statetest.Alone
	t      *testing.T
	engine *engine
	logs   *logstore.Store
}

func start(t *testing.T, command state.Command, settings model.DockerPruneSettings) *fixture {
	f := &fixture{t: t, engine: &engine{}, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(f.engine, f.logs))
	session := statetest.Session
	session.Session.Command = command
	f.Then(session)
	f.settings(settings)
	f.Then(statetest.Connected()...)
	return f
}

func (f *fixture) settings(s model.DockerPruneSettings) {
	loaded := statetest.Loaded(statetest.K8s("web", statetest.Image("web")))
	loaded.Result.DockerPrune = s
	f.Then(loaded)
}

// built says that image web was built once more.
func (f *fixture) built() {
	serial := state.Updates.In(f.View()).Value("web").Serial + 1
	at := time.Now()
	f.Then(state.BuildStarted{Resource: "web", Serial: serial, At: at},
		state.BuildCompleted{Resource: "web", Serial: serial, Deployed: true,
			Images: map[string]model.ImageResult{"web": {Local: fmt.Sprintf("web:%d", serial), Cluster: fmt.Sprintf("reg/web:%d", serial), StartedAt: at}}})
	time.Sleep(time.Second)
}

func (f *fixture) asked(what string, want int) {
	f.t.Helper()
	synctest.Wait()
	if got := f.engine.asked(); got != want {
		f.t.Errorf("%s: pruned %d times, want %d", what, got, want)
	}
}

func TestEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, state.CommandUp, model.DefaultDockerPruneSettings)
		time.Sleep(24 * time.Hour)
		f.asked("nothing was built", 0)
		f.built()
		f.asked("not at once", 0)
		time.Sleep(first)
		f.asked("a while after the first build", 1)
		if got, want := f.engine.calls[0], "6h0m0s of hone-synclet web keep reg/web:1 web:1"; got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
		f.built()
		f.built()
		time.Sleep(30 * time.Minute)
		f.asked("within the hour", 1)
		time.Sleep(30 * time.Minute)
		f.asked("an hour later", 2)
		f.Then(state.BuildStarted{Resource: "web", Serial: 4, At: time.Now()})
		time.Sleep(2 * time.Hour)
		f.asked("while a build runs", 2)
		f.Then(state.BuildCompleted{Resource: "web", Serial: 4})
		f.asked("at its end", 3)
		f.settings(model.DockerPruneSettings{Disable: true, Interval: time.Hour})
		time.Sleep(24 * time.Hour)
		f.asked("disabled", 3)
		f.settings(model.DefaultDockerPruneSettings)
		f.asked("enabled again", 4)
		f.Then(state.EngineReported{Err: "gone"})
		time.Sleep(2 * time.Hour)
		f.asked("without an engine", 4)
		f.Then(state.EngineReported{Connected: true})
		f.asked("the engine is back", 5)
	})
}

func TestEveryNumberOfBuilds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, state.CommandUp, model.DockerPruneSettings{NumBuilds: 2, MaxAge: time.Hour})
		f.built()
		time.Sleep(first)
		f.asked("a while after the first build", 1)
		f.built()
		time.Sleep(24 * time.Hour)
		f.asked("after one build", 1)
		f.built()
		f.asked("after two", 2)
		f.built()
		f.asked("after three", 2)
	})
}

// TestOfWhatTheTiltfileHas names the images that the Tiltfile declares, and the ones that it declared earlier.
func TestOfWhatTheTiltfileHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, state.CommandUp, model.DefaultDockerPruneSettings)
		f.built()
		f.Then(statetest.Loaded(statetest.K8s("api", statetest.Image("shop/api"))))
		time.Sleep(time.Hour)
		f.asked("with another Tiltfile", 1)
		if got := f.engine.calls[0]; !strings.Contains(got, "of hone-synclet shop/api web keep") {
			t.Errorf("asked for %q", got)
		}
	})
}

func TestNotInCI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, state.CommandCI, model.DefaultDockerPruneSettings)
		f.built()
		time.Sleep(24 * time.Hour)
		f.asked("ci", 0)
	})
}

func TestSaysWhatItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, state.CommandUp, model.DefaultDockerPruneSettings)
		f.engine.done = imagebuild.Pruned{Refs: []string{"a", "b"}, Images: 1, Bytes: 12_300_000}
		f.built()
		time.Sleep(first)
		f.asked("first", 1)
		f.engine.mu.Lock()
		f.engine.done, f.engine.err = imagebuild.Pruned{Refs: []string{"c"}}, problem.Wrap(errors.New("busy"), "the engine is busy", "wait")
		f.engine.mu.Unlock()
		time.Sleep(time.Hour)
		f.asked("second", 2)
		got := strings.Join(statetest.Texts(f.logs, string(model.TiltfileName)), "\n")
		for _, want := range []string{"Removed 1 old image of earlier builds (12 MB)", "Removed 1 old tag of", "the engine is busy: busy", "wait"} {
			if !strings.Contains(got, want) {
				t.Errorf("log lacks %q:\n%s", want, got)
			}
		}
	})
}

// TestWithBuilder prunes images that the builder made, on an engine in memory: of three old images of one name the one that
// is not among the two newest goes, and one that is deployed stays.
func TestWithBuilder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := dockertest.New()
		b := imagebuild.New(fake)
		var refs []string
		for i := range 4 {
			r, err := b.Build(t.Context(), imagebuild.Request{Target: model.ImageTarget{Ref: "web", Docker: &model.DockerBuild{
				Contents: fmt.Sprintf("FROM busybox\nLABEL n=%d\n", i)}}})
			if err != nil {
				t.Fatal(err)
			}
			fake.SetTaggedAt(r.Local, time.Now().Add(-time.Duration(24-i)*time.Hour))
			refs = append(refs, r.Local)
		}
		logs := statetest.Logs(t)
		f := &fixture{Alone: statetest.Start(t, New(b, logs)), t: t, logs: logs}
		f.Then(statetest.Session)
		f.settings(model.DefaultDockerPruneSettings)
		f.Then(statetest.Connected()...)
		f.Then(state.BuildStarted{Resource: "web", Serial: 1, At: time.Now()}, state.BuildCompleted{Resource: "web", Serial: 1, Deployed: true,
			Images: map[string]model.ImageResult{"web": {Local: refs[0], Cluster: refs[0], StartedAt: time.Now()}}})
		time.Sleep(first)
		synctest.Wait()
		images, err := fake.Images(t.Context(), imagebuild.Label)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, im := range images {
			left = append(left, im.Tags...)
		}
		want := []string{refs[0], refs[2], refs[3]}
		slices.Sort(left)
		slices.Sort(want)
		if !slices.Equal(left, want) {
			t.Errorf("left (-want +got):\n%s", cmp.Diff(want, left))
		}
	})
}
