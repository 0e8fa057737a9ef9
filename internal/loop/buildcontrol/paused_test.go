package buildcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestPausedOf(t *testing.T) {
	manual := statetest.K8s("m", statetest.Image("a"))
	manual.TriggerMode = model.TriggerManual
	s := up(same, statetest.K8s("b", statetest.Image("b")), statetest.K8s("a", statetest.Image("a")), statetest.K8s("idle"), manual)
	for _, name := range []string{"b", "a", "idle", "m"} {
		s.Deployed(name)
	}
	if _, ok := PausedOf(s.View()); ok {
		t.Error("a session is paused that is not")
	}
	since := s.Now
	s.Then(state.SessionPaused{}, statetest.Change("a", "/src/a/x", "/src/a/y"), statetest.Change("b", "/src/b/x", "/src/a/x"), tiltfileChanged())
	got, ok := PausedOf(s.View())
	want := Paused{Since: since, Resources: []model.ManifestName{"b", "a"}, Files: 3, Tiltfile: 1}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
