package watchmanager

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func session(dir string) state.SessionStarted {
	return state.SessionStarted{Session: state.Session{Command: state.CommandUp, Tiltfile: filepath.Join(dir, "Tiltfile")}}
}

// image is an image that is built from a folder.
func image(dir, ref string) model.ImageTarget {
	return model.ImageTarget{Ref: ref, Watch: model.WatchSpec{Paths: []string{filepath.Join(dir, ref)}}}
}

// hasChanged waits until a resource has changes of an image in exactly the given files.
func hasChanged(a *statetest.Alone, resource, ref string, files ...string) {
	a.Until("changes of "+ref+" in "+resource, func(v store.View) bool {
		return slices.Equal(state.PathsOf(state.Updates.In(v).Value(resource).Changes[model.ImageID(ref)]), files)
	})
}

func TestFilesOfTargetsAndOfTheTiltfile(t *testing.T) {
	dir := t.TempDir()
	tiltfile, main := filepath.Join(dir, "Tiltfile"), filepath.Join(dir, "web", "main.go")
	write(t, tiltfile, "")
	write(t, main, "")
	a := statetest.Start(t, New(watch.Options{}, true))
	a.Dispatch(session(dir))
	a.Until("the session", func(v store.View) bool { return state.TheTiltfile(v).Path != "" })
	// The watch begins at some time after that; a file that is written again and again is seen in the end.
	seen := func(path string, ok func(store.View) bool) {
		t.Helper()
		wake, stop := a.Store.Watch(state.Tiltfiles.Name(), state.Updates.Name())
		defer stop()
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for i := 0; !ok(a.View()); {
			select {
			case <-wake:
			case <-tick.C:
				if i++; i > 50 {
					t.Fatalf("no change of %s is seen", path)
				}
				write(t, path, string(rune('a'+i%26)))
			}
		}
	}
	seen(tiltfile, func(v store.View) bool {
		return slices.Equal(state.PathsOf(state.TheTiltfile(v).Changed), []string{tiltfile})
	})
	loaded := func(ignores []model.Ignore, ms ...model.Manifest) state.TiltfileLoaded {
		l := statetest.Loaded(ms...)
		l.Result.ConfigFiles, l.Result.Ignores = []string{tiltfile}, ignores
		return l
	}
	a.Dispatch(loaded([]model.Ignore{{Base: dir, Patterns: []string{"**/*.tmp"}}},
		statetest.K8s("web", image(dir, "web")), statetest.K8s("other", image(dir, "web"))))
	seen(main, func(v store.View) bool {
		return !state.Updates.In(v).Value("web").Changes[model.ImageID("web")].Empty()
	})
	write(t, filepath.Join(dir, "web", "x.tmp"), "x")
	more := filepath.Join(dir, "web", "sub", "more.go")
	write(t, more, "x")
	hasChanged(a, "web", "web", main, more)
	hasChanged(a, "other", "web", main, more)
}

// TestInPlaceTargets names the targets that settle sooner: all those that go into a container that is updated in place.
func TestInPlaceTargets(t *testing.T) {
	dir := t.TempDir()
	steps := model.LiveUpdate{Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/src"}}}
	above := image(dir, "above")
	above.LiveUpdate = steps
	s := New(watch.Options{}, true)
	a := statetest.Start(t, s)
	a.Dispatch(session(dir), statetest.Loaded(statetest.K8s("web", image(dir, "base"), above), statetest.K8s("plain", image(dir, "plain"))))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; !s.isInPlace(model.ImageID("above")); i++ { // no table shows it
		if i > 10_000 {
			t.Fatal("no target settles sooner")
		}
		<-tick.C
	}
	for ref, want := range map[string]bool{"above": true, "base": true, "plain": false} {
		if got := s.isInPlace(model.ImageID(ref)); got != want {
			t.Errorf("%s: %v, want %v", ref, got, want)
		}
	}
}

func TestFilesOfFileWatches(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "src", "a.go")
	write(t, file, "")
	a := statetest.Start(t, New(watch.Options{}, true))
	l := statetest.Loaded()
	l.Result.FileWatches = []model.FileWatch{{Name: "w", Watch: model.WatchSpec{Paths: []string{filepath.Join(dir, "src")}}}}
	a.Dispatch(session(dir), l)
	a.Until("the watch is declared", func(v store.View) bool { return state.FileWatches.In(v).Len() == 1 })
	wake, stop := a.Store.Watch(state.FileWatches.Name())
	defer stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for i := 0; state.FileWatches.In(a.View()).Value("w").Changes == 0; {
		select {
		case <-wake:
		case <-tick.C:
			if i++; i > 50 {
				t.Fatal("no change is seen")
			}
			write(t, file, string(rune('a'+i%26)))
		}
	}
	if got := state.FileWatches.In(a.View()).Value("w"); !slices.Equal(got.Files, []string{file}) {
		t.Errorf("%+v", got)
	}
}

func TestOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := statetest.Start(t, New(watch.Options{}, false)).Then(session("/src"))
		if a.Ended() || state.Watches.In(a.View()).Len() != 0 {
			t.Error("it does something")
		}
	})
}

func TestDesired(t *testing.T) {
	local := statetest.Local("gen")
	local.Local.Watch = model.WatchSpec{Paths: []string{"/src/gen"}}
	a := statetest.Image("a")
	quiet := statetest.Image("quiet")
	quiet.Watch = model.WatchSpec{}
	script := model.ImageTarget{Ref: "script", Custom: &model.CustomBuild{}, Watch: model.WatchSpec{Paths: []string{"/src/script"}}}
	service := statetest.Compose("service")
	service.Compose.Watch = model.WatchSpec{Paths: []string{"/src/service"}}
	tf := statetest.Loaded(statetest.K8s("one", a, quiet), statetest.K8s("two", a, script), service, local, statetest.Local("nothing"))
	tf.Result.ConfigFiles, tf.Result.Ignores = []string{"/src/Tiltfile", "/src/lib"}, []model.Ignore{{Base: "/src"}}
	off := model.DisableSource{Keys: []model.ConfigMapKey{{ConfigMap: "m", Key: "k"}}}
	tf.Result.ConfigMaps = []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "true"}}}
	tf.Result.FileWatches = []model.FileWatch{
		{Name: "off", Watch: model.WatchSpec{Paths: []string{"/src/off"}}, Disable: off},
		{Name: "on", Watch: model.WatchSpec{Paths: []string{"/src/on"}}},
	}
	specs, ignores := desired(statetest.New(statetest.Session, tf).View())
	var got []string
	for _, s := range specs {
		id := s.ID.String()
		if s.Touches {
			id += " and touches"
		}
		got = append(got, id)
	}
	if diff := cmp.Diff([]string{"configs:(Tiltfile) and touches", "image:a", "image:script and touches", "compose:service", "local:gen and touches",
		"filewatch:on"}, got); diff != "" || len(ignores) != 1 || len(specs[0].Paths) != 2 {
		t.Errorf("%v %v (-want +got):\n%s", specs, ignores, diff)
	}
}

// TestSettled checks that a change is known right after Settled has returned, if the system can tell.
func TestSettled(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "web", "main.go"), "")
	sub := New(watch.Options{}, true)
	sub.Settled(t.Context()) // nothing runs, nothing comes
	a := statetest.Start(t, sub)
	a.Dispatch(session(dir), statetest.Loaded(statetest.K8s("web", image(dir, "web"))))
	// A first change that is seen shows that the watch has begun.
	wake, stop := a.Store.Watch(state.Updates.Name())
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	seen := func() state.Changes {
		return state.Updates.In(a.View()).Value("web").Changes[model.ImageID("web")]
	}
	for n := 0; seen().Empty(); n++ {
		select {
		case <-wake:
		case <-tick.C:
			if n == 100 {
				t.Fatal("no change is seen")
			}
			write(t, filepath.Join(dir, "web", "begin"), strconv.Itoa(n))
		}
	}
	for n := range 5 {
		path := filepath.Join(dir, "web", "out", strconv.Itoa(n))
		write(t, path, "x")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		sub.Settled(ctx)
		if ctx.Err() != nil {
			t.Error("it took all available time")
		}
		cancel()
		a.Until("the change of "+path, func(store.View) bool {
			_, ok := seen().At(path)
			return ok
		})
	}
}
