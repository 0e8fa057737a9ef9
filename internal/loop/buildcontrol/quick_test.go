package buildcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func noticed(ref string, paths ...string) state.FilesNoticed {
	return state.FilesNoticed(statetest.Change(ref, paths...))
}

// TestQuick checks which changes are copied into containers before they have settled.
func TestQuick(t *testing.T) {
	synced := func(change func(*model.LiveUpdate)) func(m map[string]*model.Manifest) {
		return func(m map[string]*model.Manifest) {
			lu := &m["a"].Images[0].LiveUpdate
			*lu = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src/a", RemotePath: "/app"}}}
			change(lu)
		}
	}
	plain := func(*model.LiveUpdate) {}
	file := noticed("a", "/src/a/x")
	const start = "start a: files changed /src/a/x (in place)"
	for _, tc := range []struct {
		name   string
		change func(*model.LiveUpdate)
		then   []store.Action
		want   string
	}{
		{"nothing but to copy", plain, []store.Action{file}, start},
		{"outside of the syncs", plain, []store.Action{noticed("a", "/src/b")}, ""},
		{"one of two outside", plain, []store.Action{noticed("a", "/src/a/x", "/src/b")}, ""},
		{"a stop path", func(l *model.LiveUpdate) { l.StopPaths = []string{"/src/a/x"} }, []store.Action{file}, ""},
		{"a command without triggers", func(l *model.LiveUpdate) { l.Runs = []model.Run{{}} }, []store.Action{file}, ""},
		{"a command for the file", func(l *model.LiveUpdate) { l.Runs = []model.Run{{Triggers: []string{"/src/a"}}} }, []store.Action{file}, ""},
		{"a command for another file", func(l *model.LiveUpdate) { l.Runs = []model.Run{{Triggers: []string{"/src/a/y"}}} }, []store.Action{file}, start},
		{"a restart", func(l *model.LiveUpdate) { l.RestartContainer = true }, []store.Action{file}, ""},
		{"settled, too", plain, []store.Action{file, statetest.Change("a", "/src/a/x")}, start},
		{"another file needs an image", plain, []store.Action{statetest.Change("a", "/src/b"), file},
			"start a: files changed /src/b (in place)"},
		{"the user asks for a rebuild", plain, []store.Action{file, state.ResourcesTriggered{Names: []model.ManifestName{"a"}}}, "start a: triggered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := up(synced(tc.change), statetest.K8s("a", statetest.Image("a"))).Deployed("a").
				Then(statetest.Pod("a", "p", "c1", "a:1")).Then(tc.then...)
			if d := cmp.Diff(tc.want, text(Decide(s.View(), nil))); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// synced is a state in which resource a runs in container c1 and files below /src/a are copied into it. expect compares
// the decision.
func synced(t *testing.T) (s *statetest.State, expect func(want string)) {
	s = up(func(m map[string]*model.Manifest) {
		m["a"].Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src/a", RemotePath: "/app"}}}
	}, statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"))
	return s, func(want string) {
		t.Helper()
		if d := cmp.Diff(want, text(Decide(s.View(), nil))); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
	}
}

// TestQuickOnce follows a noticed file: a file that was copied early is not copied again when it has settled, unless it
// changes meanwhile.
func TestQuickOnce(t *testing.T) {
	s, expect := synced(t)
	done := func(b *state.BuildCompleted) { b.Synced = []string{"c1"} }
	s.Then(noticed("a", "/src/a/x"))
	expect("start a: files changed /src/a/x (in place)")
	s.Begin("a").Then(noticed("a", "/src/a/y")).Finish("a", done)
	expect("start a: files changed /src/a/y (in place)")
	s.Begin("a").Finish("a", done)
	expect("")
	s.Then(statetest.Change("a", "/src/a/x", "/src/a/y"))
	expect("")
	s.Then(statetest.Change("a", "/src/a/z")) // never noticed
	expect("start a: files changed /src/a/z (in place)")
	// A new container lacks everything since the image.
	s.Begin("a").Finish("a", done).Then(statetest.Pod("a", "p2", "c2", "a:1"))
	expect("start a: container started /src/a/x /src/a/y /src/a/z (in place)")
}

// TestNoticedIsNotTaken: a file that needs more than a copy is noticed while the update of another one begins. That update
// does not take it, so it is due once it has settled.
func TestNoticedIsNotTaken(t *testing.T) {
	for name, change := range map[string]func(*model.LiveUpdate){
		"run":       func(l *model.LiveUpdate) { l.Runs = []model.Run{{Triggers: []string{"/src/a/y"}}} },
		"stop path": func(l *model.LiveUpdate) { l.StopPaths = []string{"/src/a/y"} },
	} {
		t.Run(name, func(t *testing.T) {
			s := up(func(m map[string]*model.Manifest) { change(&m["a"].Images[0].LiveUpdate) },
				statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1"))
			s.Then(noticed("a", "/src/a/y"), statetest.Change("a", "/src/a/x"))
			s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Synced = []string{"c1"} })
			s.Then(statetest.Change("a", "/src/a/y"))
			if d := cmp.Diff("start a: files changed /src/a/y (in place)", text(Decide(s.View(), nil))); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}
