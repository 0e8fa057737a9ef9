package buildcontrol

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestGrown checks which files that were saved after the beginning of an update in place it may take in.
func TestGrown(t *testing.T) {
	plain := func(*model.Manifest) {}
	for _, tc := range []struct {
		name   string
		change func(*model.Manifest)
		then   []store.Action
		want   string
	}{
		{"nothing", plain, nil, ""},
		{"files to copy", plain, []store.Action{noticed("a", "/src/a/y"), noticed("a", "/src/a/z")}, "c1: /src/a/y /src/a/z"},
		{"the same file again", plain, []store.Action{noticed("a", "/src/a/x")}, "c1: /src/a/x"},
		{"they settle, and another one comes", plain, []store.Action{noticed("a", "/src/a/y"), statetest.Change("a", "/src/a/y"), noticed("a", "/src/a/z")},
			"c1: /src/a/y /src/a/z"},
		{"all have settled", plain, []store.Action{statetest.Change("a", "/src/a/x"), noticed("a", "/src/a/y"), statetest.Change("a", "/src/a/y")}, "c1: /src/a/y"},
		{"it has settled, and cannot be copied", plain, []store.Action{statetest.Change("a", "/src/b")}, ""},
		{"the first one settles", plain, []store.Action{statetest.Change("a", "/src/a/x"), noticed("a", "/src/a/z")}, "c1: /src/a/z"},
		{"one that cannot be copied", plain, []store.Action{noticed("a", "/src/a/y", "/src/b")}, ""},
		{"one that cannot be copied has settled", plain, []store.Action{statetest.Change("a", "/src/b"), noticed("a", "/src/a/y")}, ""},
		{"one that needs a command", func(m *model.Manifest) {
			m.Images[0].LiveUpdate.Runs = []model.Run{{Triggers: []string{"/src/a/y"}}}
		}, []store.Action{noticed("a", "/src/a/y")}, ""},
		{"the user triggers it", plain, []store.Action{noticed("a", "/src/a/y"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}}, ""},
		{"the user triggers what is updated", func(m *model.Manifest) { m.TriggerMode = model.TriggerManual }, []store.Action{noticed("a", "/src/a/y")}, ""},
		{"the session is paused", plain, []store.Action{noticed("a", "/src/a/y"), state.SessionPaused{}}, ""},
		{"another container has come", plain, []store.Action{noticed("a", "/src/a/y"), statetest.Pod("a", "q", "c2", "a:1")}, ""},
		{"the container has gone", plain, []store.Action{noticed("a", "/src/a/y"), statetest.Pod("a", "p", "c2", "a:1")}, ""},
		{"the resource is switched off", plain, []store.Action{noticed("a", "/src/a/y"), state.ResourcesSwitched{Off: []model.ManifestName{"a"}}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := up(func(m map[string]*model.Manifest) {
				m["a"].Images[0].LiveUpdate = model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src/a", RemotePath: "/app"}}}
				tc.change(m["a"])
			}, statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(statetest.Pod("a", "p", "c1", "a:1")).Then(noticed("a", "/src/a/x"))
			began := s.View().At
			s.Begin("a").Then(tc.then...)
			if d := cmp.Diff(tc.want, grown(s, began)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

func grown(s *statetest.State, since time.Time) string {
	var out []string
	for _, l := range Absorbable(s.View(), "a", []string{"c1"}, since) {
		out = append(out, fmt.Sprintf("%s: %s", l.ID, strings.Join(l.Files, " ")))
	}
	return strings.Join(out, ", ")
}

// TestGrownOnce follows files that a running update has taken in: they are not copied again, but files that are saved later are.
func TestGrownOnce(t *testing.T) {
	s, expect := synced(t)
	s.Then(noticed("a", "/src/a/x")).Begin("a")
	began := s.View().At
	s.Then(noticed("a", "/src/a/y"))
	until := s.View().At
	if got := grown(s, began); got != "c1: /src/a/y" {
		t.Errorf("it may take in %q", got)
	}
	s.Then(noticed("a", "/src/a/z"))
	if got := grown(s, until); got != "c1: /src/a/z" {
		t.Errorf("it may take in %q after that", got)
	}
	s.Finish("a", func(b *state.BuildCompleted) { b.Synced, b.Until, b.Added = []string{"c1"}, until, []string{"y"} })
	expect("start a: files changed /src/a/z (in place)")
	s.Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Synced = []string{"c1"} })
	expect("")
	s.Then(statetest.Change("a", "/src/a/x", "/src/a/y", "/src/a/z"))
	expect("")
	s.Then(statetest.Pod("a", "q", "c2", "a:1"))
	expect("start a: container started /src/a/x /src/a/y /src/a/z (in place)")
}
