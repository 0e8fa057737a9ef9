package buildcontroller

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

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParallelUpToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, building("a"), building("b"), building("c"), building("d"), building("e"), statetest.K8s("f"))
		f.running("a b c f")
		f.deploy("b", "f")
		f.running("a c d")
		f.deploy("a", "c")
		f.running("d e")
		f.deploy("d", "e")
		f.running("")
		f.Then(state.EngineReported{Connected: true, Version: "2"})
		f.running("")
	})
}

// One resource is triggered again and again while the snapshot does not show its build yet: the fake builder panics, and
// the build fails, if it is started twice.
func TestStartsOnceThoughTheSnapshotLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		for i := range 50 {
			f.Dispatch(state.EngineReported{Connected: true, Version: fmt.Sprint(i)}, statetest.Change("other", "/src/x"))
		}
		synctest.Wait()
		f.deploy("a")
		if got := len(f.builder.begun); got != 1 {
			t.Errorf("%d builds were begun, want 1: %s", got, f.last("a"))
		}
	})
}

func TestResults(t *testing.T) {
	defer bug.Take(func(*bug.Report) {})()
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			name string
			end  outcome
			want string
			log  string
		}{
			{"success", outcome{result: buildanddeploy.Result{Deployed: true}}, `1 initial build err="" cancelled=false`, ""},
			{"failure with a mend", outcome{err: problem.New("no such file", "write it")}, `1 initial build err="no such file\n  write it" cancelled=false`,
				"Build Failed: no such file"},
			{"panic", outcome{panics: "oops"}, `1 initial build err="hone made a mistake while updating a: oops" cancelled=false`,
				"Build Failed: hone made a mistake while updating a: oops"},
			{"an error that speaks of cancelling, though nobody cancelled: it would be tried again without end",
				outcome{err: fmt.Errorf("the engine: %w", context.Canceled)}, `1 initial build err="the engine: context canceled" cancelled=false`,
				"Build Failed: the engine: context canceled"},
		} {
			f := start(t, Options{}, statetest.K8s("a"))
			f.finish("a", tc.end)
			f.running("")
			if got := f.last("a"); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
			}
			if text := strings.Join(statetest.Texts(f.logs, "a"), "\n"); !strings.HasPrefix(text, "Initial Build") || !strings.Contains(text, tc.log) {
				t.Errorf("%s: log:\n%s", tc.name, text)
			}
			f.Stop()
		}
	})
}

// TestTriesAgain has a push refused: the build is retried automatically, after longer and longer pauses, until it succeeds
// or fails for another reason.
func TestTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		refused := outcome{err: fmt.Errorf("push a: %w", &docker.Passing{Err: errors.New("connection refused")})}
		for i := range 7 {
			f.finish("a", refused)
			f.running("")
			if got := f.last("a"); !strings.Contains(got, "connection refused") {
				t.Errorf("after failure %d: %s", i+1, got)
			}
			time.Sleep(state.RetryPause(i+1) - time.Millisecond)
			synctest.Wait()
			f.running("")
			time.Sleep(time.Millisecond)
			synctest.Wait()
			f.running("a")
		}
		f.deploy("a")
		time.Sleep(time.Hour)
		synctest.Wait()
		f.running("")
		if got := f.last("a"); got != `8 trying again err="" cancelled=false` {
			t.Error(got)
		}
		want := []string{"Initial Build", "Build Failed: push a: connection refused", "Trying again in 2s", "Trying Again",
			"Build Failed: push a: connection refused", "Trying again in 4s", "Trying Again"}
		if diff := cmp.Diff(want, statetest.Texts(f.logs, "a")[:len(want)]); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		f.finish("a", refused)
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}}) // which does not wait for the pause
		f.finish("a", outcome{err: errors.New("does not compile")})
		time.Sleep(time.Hour)
		synctest.Wait()
		f.running("")
	})
}

// TestEngineGoes stops the engine while it builds: the build waits for it, and continues when it is back.
func TestEngineGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")), statetest.K8s("b"))
		f.deploy("b")
		f.finish("a", outcome{err: fmt.Errorf("build a: %w", dockertest.New().Unreachable())})
		f.running("")
		if got := f.last("a"); !strings.HasSuffix(got, "cancelled=true") || state.TheEngine(f.View()).Connected {
			t.Errorf("%s, engine %+v", got, state.TheEngine(f.View()))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		f.running("")
		f.Then(state.EngineReported{Connected: true})
		f.running("a")
		f.deploy("a")
	})
}

func TestRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{Namespace: "dev", Env: []string{"K=V"}}, statetest.K8s("a", statetest.Image("a")), statetest.K8s("m", statetest.Image("m")))
		for _, name := range []string{"a", "m"} {
			req := f.builder.call(name).req
			if req.InPlace || req.Force || req.Namespace != "dev" || !slices.Equal(req.Env, []string{"K=V"}) || req.UpsertTimeout != model.DefaultUpdateSettings.UpsertTimeout {
				t.Errorf("first request of %s: %+v", name, req)
			}
		}
		f.deploy("a", "m")
		f.Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"))
		req := f.builder.call("a").req
		if !req.InPlace || !req.Dirty["a"] || req.Results["a"].Cluster != "a:1" {
			t.Errorf("in place: %+v", req)
		}
		if diff := cmp.Diff([]model.LackingContainer{{ContainerRef: model.ContainerRef{Resource: "a", Namespace: "default", Pod: "p", Name: "main",
			ID: "c1", Runtime: "containerd", Image: "a:1", Ref: "a", Syncs: statetest.Image("a").LiveUpdate.Syncs},
			Files: []string{"/src/a/x"}, New: true}}, req.Containers); diff != "" {
			t.Errorf("containers (-want +got):\n%s", diff)
		}
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "exec", Synced: []string{"c1"}}})
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		if req := f.builder.call("a").req; !req.Force || req.InPlace {
			t.Errorf("triggered without a change: %+v", req)
		}
		f.deploy("a")
		f.running("")
		f.Then(statetest.Pod("a", "p", "c1", "a:1"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}, Rebuild: true})
		if req := f.builder.call("a").req; !req.Force || req.InPlace || !req.NoCache || req.Mode != model.UpdateAuto {
			t.Errorf("from scratch: %+v", req)
		}
		f.deploy("a")
		f.running("")
		f.Then(statetest.Change("a", "/src/a/z"))
		if req := f.builder.call("a").req; req.Force || req.NoCache || req.Adopt {
			t.Errorf("the next update: %+v", req)
		}
		f.finish("a", outcome{err: errors.New("configmap/a exists already")})
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}, Adopt: true})
		if req := f.builder.call("a").req; !req.Adopt || req.Force {
			t.Errorf("the user lets it take over an object: %+v", req)
		}
		f.finish("a", outcome{err: errors.New("timeout")})
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		if req := f.builder.call("a").req; req.Adopt {
			t.Error("that is for one update")
		}
		f.deploy("a")
		f.running("")
	})
}

// TestRequestOfCompose: containers of Compose run where the engine does, which may be a machine of another kind than the
// cluster and this one.
func TestRequestOfCompose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := statetest.Compose("a", statetest.Image("i"))
		f := start(t, Options{}, m)
		f.Then(state.EngineReported{Connected: true, Platform: "linux/arm64"},
			state.ClusterReported{Connected: true, Cluster: model.Cluster{Arch: "s390x"}})
		o := deployed(f.builder.call("a"))
		o.result.Applied = []model.AppliedObject{{UID: "c1", TemplateHash: "c1"}}
		f.finish("a", o)
		f.Then(state.PodChanged{Pod: state.Pod{Current: true, Pod: model.Pod{Name: "shop-a-1", UID: "c1", Resource: "a", TemplateHash: "c1", Engine: "running",
			Phase: "Running", Containers: []model.Container{{Name: "a", ID: "c1", State: model.ContainerRunning, Image: "i:1"}}}}}, statetest.Change("i", "/src/i/x"))
		c := f.builder.call("a")
		if c == nil || len(c.req.Containers) != 1 {
			t.Fatalf("no update in place: %+v", c)
		}
		want := model.ContainerRef{Resource: "a", Pod: "shop-a-1", Name: "a", ID: "c1", Image: "i:1", Ref: "i", Arch: "arm64", Template: "c1", Syncs: statetest.Image("i").LiveUpdate.Syncs}
		if diff := cmp.Diff(want, c.req.Containers[0].ContainerRef); diff != "" {
			t.Errorf("the container (-want +got):\n%s", diff)
		}
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "synclet", Synced: []string{"c1"}}})
	})
}

func TestProgressAndBanner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		f.builder.call("a").req.Progress("image", "1/2 Building", model.BuildProgress{})
		logstore.Warnf(f.builder.call("a").req.Log, "WARNING: old base")
		synctest.Wait()
		if b := f.update("a").Current; b == nil || b.Stage != "1/2 Building" || b.Mode != "image" {
			t.Errorf("current build: %+v", b)
		}
		f.deploy("a")
		if n := f.update("a").Builds[0].Warnings; n != 1 {
			t.Errorf("%d warnings, want 1", n)
		}
		f.Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x", "/src/a/y"))
		f.finish("a", outcome{result: buildanddeploy.Result{Synced: []string{"c1"}}})
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		f.deploy("a")
		want := []string{"Initial Build", "WARNING: old base", "2 Files Changed: [a/x a/y]", "Triggered"}
		if diff := cmp.Diff(want, statetest.Texts(f.logs, "a")); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// TestAnotherPlace has the Tiltfile name another builder, which the next build uses, and another registry, to which the images go at once.
func TestAnotherPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := statetest.K8s("a", statetest.Image("a"))
		f := start(t, Options{}, m)
		f.deploy("a")
		tf := model.Tiltfile{Manifests: []model.Manifest{m}, Builder: model.Builder{At: "tcp://build.example.com:1234"}}
		f.Then(statetest.Pod("a", "p", "c1", "a:1"), state.TiltfileLoaded{Result: tf})
		f.running("")
		f.Then(statetest.Change("a", "/src/a/x"))
		if got := f.builder.call("a").req.Builder; got.At != tf.Builder.At {
			t.Errorf("the next build is made by %q", got.At)
		}
		f.deploy("a")
		k := *m.K8s
		k.Registry.Host = "localhost:5000"
		m.K8s = &k
		tf.Manifests = []model.Manifest{m}
		f.Then(state.TiltfileLoaded{Result: tf})
		f.deploy("a")
		want := []string{"Initial Build", "1 File Changed: [a/x]", "Registry Changed"}
		if diff := cmp.Diff(want, statetest.Texts(f.logs, "a")); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestOvertaken(t *testing.T) {
	change := func(i int) state.FilesChanged { return statetest.Change("a", fmt.Sprintf("/src/a/%d", i)) }
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		for i := range maxReplaced {
			f.Then(change(i))
			if got, want := f.last("a"), "cancelled=true"; !strings.HasSuffix(got, want) {
				t.Errorf("after change %d: %s", i, got)
			}
			f.running("a")
		}
		serial := f.update("a").Serial
		f.Then(change(9))
		f.running("a")
		if got := f.update("a").Serial; got != serial {
			t.Errorf("the build was replaced more than %d times in a row", maxReplaced)
		}
		f.deploy("a")
		f.Then(statetest.Pod("a", "p", "c1", "a:1")) // now the change that came last gets an update of its own
		f.running("a")
		f.Then(change(10))
		if got := f.last("a"); !strings.HasSuffix(got, "cancelled=true") {
			t.Errorf("a build that came through did not reset the count: %s", got)
		}
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "exec", Synced: []string{"c1"}}})
		f.running("")
		if left := f.update("a").Pending(); left != nil {
			t.Errorf("still pending: %v", left)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		f.builder.call("a").req.Commit()
		f.Then(change(1))
		if f.builder.call("a").ctx.Err() != nil {
			t.Error("a build was cancelled after it began to change the cluster")
		}
		f.deploy("a")
		f.Then(statetest.Pod("a", "p", "c1", "a:1"))
		f.running("a")
		f.deploy("a")
	})
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		f.Then(state.SessionPaused{}, change(1))
		if f.builder.call("a").ctx.Err() != nil {
			t.Error("a build was cancelled in a paused session, where no other may replace it")
		}
		f.deploy("a")
		f.running("")
		f.Then(state.SessionResumed{}, statetest.Pod("a", "p", "c1", "a:1"))
		f.running("a")
		f.deploy("a")
	})
	synctest.Test(t, func(t *testing.T) {
		m := statetest.K8s("a", statetest.Image("a"))
		m.TriggerMode = model.TriggerManual
		f := start(t, Options{}, m)
		f.Then(change(1))
		if f.builder.call("a") == nil || f.builder.call("a").ctx.Err() != nil {
			t.Error("the build of a manual resource was overtaken by a change that waits for the user")
		}
		f.deploy("a")
		f.running("")
	})
}

// TestCopiesNeedNoSlot replaces a container while the maximum number of builds runs: the new container gets its files at once, and
// its update takes no slot from a build.
func TestCopiesNeedNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := statetest.K8s("a", statetest.Image("a"))
		a.TriggerMode = model.TriggerManual
		b, c, d := statetest.K8s("b", statetest.Image("b")), statetest.K8s("c", statetest.Image("c")), statetest.K8s("d", statetest.Image("d"))
		f := start(t, Options{}, a, b, c, d)
		f.deploy("a", "b", "c", "d")
		f.Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/w"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		f.running("a")
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "synclet", Synced: []string{"c1"}}})
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"b", "c"}}, statetest.Change("a", "/src/a/x"))
		f.running("b c")
		f.Then(statetest.Pod("a", "p", "c2", "a:1"))
		f.running("a b c")
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"d"}})
		f.running("a b c d")
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "synclet", Synced: []string{"c2"}}})
		f.Then(statetest.Pod("a", "p", "c3", "a:1"))
		f.running("a b c d")
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "synclet", Synced: []string{"c3"}}})
		f.deploy("b", "c", "d")
		f.running("")
	})
}

// TestReadyOnceIsEnough has a server that is ready for a moment, while no slot is free for the resource that waits for it.
func TestReadyOnceIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, user := statetest.Local("srv"), statetest.Local("user")
		srv.Local.Serve = model.Cmd{Argv: []string{"serve"}}
		user.ResourceDeps = []model.ManifestName{"srv"}
		f := start(t, Options{}, srv, user, building("a"), building("b"), building("c"))
		f.running("a b srv")
		f.deploy("srv")
		f.running("a b c")
		p := state.Process{Resource: "srv", State: state.ProcessRunning, Build: 1, Ready: true}
		f.Then(state.ProcessChanged{Process: p}, state.ResourcesReady{Names: []model.ManifestName{"srv"}})
		p.Ready = false
		f.Then(state.ProcessChanged{Process: p})
		f.deploy("a")
		f.running("b c user")
		f.deploy("b", "c", "user")
	})
}

// TestHoldsAreTold checks the events about waiting resources.
func TestHoldsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		user := statetest.K8s("user")
		user.ResourceDeps = []model.ManifestName{"a", "b"}
		f := start(t, Options{}, building("a"), building("b"), building("c"), building("d"), user)
		f.deploy("a", "b", "c", "d")
		f.Then(statetest.Healthy("a"), state.ResourcesReady{Names: []model.ManifestName{"a"}},
			statetest.Healthy("b"), state.ResourcesReady{Names: []model.ManifestName{"b"}})
		f.running("user")
		f.deploy("user")
		var got []string
		for e := range state.Events.In(f.View()).Refs() {
			if h, ok := e.Value.What.(state.HoldChange); ok {
				got = append(got, fmt.Sprintf("%s %s%v, was %q", h.Resource, h.Reason, h.On, h.Was))
			}
		}
		want := []string{`a waiting-for-cluster[], was ""`, `b waiting-for-cluster[], was ""`, `c waiting-for-cluster[], was ""`,
			`d waiting-for-cluster[], was ""`, `user waiting-for-dep[a b], was ""`, `a waiting-for-engine[], was "waiting-for-cluster"`,
			`b waiting-for-engine[], was "waiting-for-cluster"`, `c waiting-for-engine[], was "waiting-for-cluster"`,
			`d waiting-for-engine[], was "waiting-for-cluster"`, `a [], was "waiting-for-engine"`, `b [], was "waiting-for-engine"`,
			`c [], was "waiting-for-engine"`, `d waiting-for-slot[a b c], was "waiting-for-engine"`, `d [], was "waiting-for-slot"`,
			`user waiting-for-dep[b], was "waiting-for-dep"`, `user [], was "waiting-for-dep"`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestLocalCommandIsNotCancelled lets a command run to its end although a file has changed, since its effects are unknown.
// It runs once more afterwards.
func TestLocalCommandIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gen := statetest.Local("gen")
		f := start(t, Options{}, gen)
		c := f.builder.call("gen")
		c.req.Commit()
		f.Then(state.FilesChanged{Changes: []state.FileChange{{Target: gen.DeployID(), Paths: []string{"/src/in"}}}})
		f.running("gen")
		if c.ctx.Err() != nil {
			t.Error("the command was cancelled")
		}
		f.deploy("gen")
		f.running("gen")
		f.deploy("gen")
		if got := f.last("gen"); got != `2 files changed err="" cancelled=false` {
			t.Errorf("last: %s", got)
		}
	})
}

// A container that was updated in a second way, after the first one failed, shows that live updates work.
func TestFallingBackFromOneWayInPlaceToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.K8s("a", statetest.Image("a")))
		f.deploy("a")
		f.Then(statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", "/src/a/x"))
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "exec", Synced: []string{"c1"}, FellBack: "no engine"}})
		f.Then(statetest.Change("a", "/src/a/y"))
		if !f.builder.call("a").req.InPlace {
			t.Error("the next change does not go in place")
		}
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "image", FellBack: "no tar"}, err: errors.New("no space left")})
		f.Then(statetest.Change("a", "/src/a/z"))
		if f.builder.call("a").req.InPlace {
			t.Error("live update is tried again though it was broken and no image came of it")
		}
		f.deploy("a")
	})
}

// preparer records the resources that it is asked to prepare.
type preparer struct {
	mu       sync.Mutex
	asked    [][]model.ManifestName
	declared int
	// silent is a cluster that does not answer before the channel is closed.
	silent string
	answer chan struct{}
}

func (p *preparer) Declare([]model.Manifest, map[string]uint64) { p.declared++ }

func (p *preparer) Prepare(ctx context.Context, on string, manifests []model.Manifest, _ string) error {
	var names []model.ManifestName
	for _, m := range manifests {
		names = append(names, m.Name)
	}
	p.mu.Lock()
	p.asked = append(p.asked, names)
	p.mu.Unlock()
	if on != "" && on == p.silent {
		await(ctx, p.answer)
	}
	return errors.New("a failure costs only time")
}

func TestPreparesOnceBeforeTheFirstDeploy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &preparer{}
		f := start(t, Options{Cluster: p}, statetest.Local("l"), statetest.K8s("a"), statetest.K8s("b"))
		f.deploy("l", "a", "b")
		if diff := cmp.Diff([][]model.ManifestName{{"l", "a", "b"}}, p.asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		again := statetest.K8s("a")
		again.K8s.Objects = []model.K8sObject{{Kind: "ConfigMap", Name: "new"}}
		f.Then(state.TiltfileStarted{}, statetest.Loaded(statetest.Local("l"), again, statetest.K8s("b")))
		f.deploy("a")
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"b"}})
		f.deploy("b")
		if p.declared != 2 || len(p.asked) != 1 {
			t.Errorf("two evaluations were declared %d times, and the cluster was read %d times", p.declared, len(p.asked))
		}
	})
}

// TestPreparesBesideOthers: while a cluster does not answer the read before the first deploys, the resources of the others are deployed.
func TestPreparesBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &preparer{silent: "eu", answer: make(chan struct{})}
		far := statetest.K8s("far")
		far.K8s.Cluster = "eu"
		f := start(t, Options{Cluster: p}, far, statetest.K8s("near"))
		f.Then(state.ClusterReported{On: "eu", Connected: true})
		if c := f.builder.call("far"); c != nil {
			t.Errorf("it is deployed before its cluster has answered: %+v", c)
		}
		f.deploy("near")
		f.running("")
		close(p.answer)
		synctest.Wait()
		f.deploy("far")
	})
}

// An initial sync that cannot be made leads to a deploy. For a container that survives the deploy it is not tried again.
func TestAnInitialSyncIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		im := statetest.Image("a")
		im.LiveUpdate.InitialSync = true
		f := start(t, Options{}, statetest.K8s("a", im))
		f.deploy("a")
		f.running("")
		f.Then(statetest.Pod("a", "p", "c1", "a:1"))
		c := f.builder.call("a")
		if c == nil || !c.req.InPlace || len(c.req.Containers) != 1 || !c.req.Containers[0].New {
			t.Fatalf("the new container gets no initial sync: %+v", c)
		}
		o := deployed(c)
		o.result.FellBack = "tar is missing"
		o.result.Images = nil
		f.finish("a", o)
		f.running("")
		f.Then(statetest.Pod("a", "p", "c2", "a:1"))
		f.running("a")
		f.finish("a", outcome{result: buildanddeploy.Result{Mode: "exec", Synced: []string{"c2"}}})
		f.running("")
	})
}

func lacking(id string) model.LackingContainer {
	return model.LackingContainer{ContainerRef: model.ContainerRef{ID: id}}
}

// TestStuck distinguishes stuck containers from containers that have the change, and from containers that are still getting
// it.
func TestStuck(t *testing.T) {
	req := buildanddeploy.Request{Containers: []model.LackingContainer{lacking("full"), lacking("slow"), lacking("done")}}
	r := buildanddeploy.Result{Synced: []string{"done"}, Behind: []*buildanddeploy.Lane{{Container: req.Containers[1]}}}
	for _, tc := range []struct {
		err  error
		want []string
	}{
		{&liveupdate.BlockedError{Err: errors.New("no space left")}, []string{"full"}},
		{&buildanddeploy.Gone{Reason: "pod p was deleted"}, []string{"full"}},
		{errors.New("broken"), nil},
	} {
		if got := stuck(req, r, tc.err, false); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
}

// TestOutput checks that the record of a failed build has the last lines of the failed step, and the record of a successful one
// has none.
func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Options{}, statetest.Local("a"))
		say := func(lines ...string) {
			for _, l := range lines {
				logstore.Infof(f.builder.call("a").req.Log, "%s", l)
			}
		}
		built := func() state.Build { return state.Updates.In(f.View()).Value("a").Builds[0] }
		say("STEP 1/2 — one", "well", "Running cmd: make", "gen.go:3: unknown \"directive\"", "  make: *** [gen] Error 1", strings.Repeat("x", 2*longestLine))
		f.finish("a", outcome{err: errors.New("command failed")})
		want := []string{`gen.go:3: unknown "directive"`, "  make: *** [gen] Error 1", strings.Repeat("x", longestLine-1) + "…"}
		if diff := cmp.Diff(want, built().Output); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		for i := range 3 * shownOutput {
			say(fmt.Sprint("line ", i))
		}
		f.finish("a", outcome{err: errors.New("command failed")})
		if got := built().Output; len(got) != shownOutput || got[shownOutput-1] != "line 59" {
			t.Errorf("%d lines: %q", len(got), got)
		}
		f.Then(state.ResourcesTriggered{Names: []model.ManifestName{"a"}})
		say("fine")
		f.finish("a", outcome{})
		if got := built(); got.Err != "" || got.Output != nil {
			t.Errorf("a successful build: %+v", got)
		}
	})
}
