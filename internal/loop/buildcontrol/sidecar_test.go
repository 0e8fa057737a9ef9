package buildcontrol

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSidecars updates native sidecars in place like ordinary containers, waits for them in the same way, and ignores init
// containers that end.
func TestSidecars(t *testing.T) {
	init := func(name, id, image string, st model.ContainerState, sidecar bool) model.Container {
		return model.Container{Name: name, ID: id, Image: image, Init: true, Sidecar: sidecar, State: st}
	}
	for _, tc := range []struct {
		name  string
		main  string // image of the ordinary container
		inits []model.Container
		live  string // container ids
		want  string // the decision after a change
	}{
		{"a sidecar alone runs the image", "other", []model.Container{init("side", "s", "a:1", model.ContainerRunning, true)},
			"s", "start a: files changed /src/a/x (in place)"},
		{"both run it", "a:1", []model.Container{init("side", "s", "a:1", model.ContainerRunning, true)},
			"m s", "start a: files changed /src/a/x (in place)"},
		{"an init container that has ended", "a:1", []model.Container{init("migrate", "i", "a:1", model.ContainerTerminated, false)},
			"m", "start a: files changed /src/a/x (in place)"},
		{"one that runs", "other", []model.Container{init("migrate", "i", "a:1", model.ContainerRunning, false)},
			"", "start a: files changed /src/a/x (in place)"}, // which falls back, since there is no container
		{"the sidecar is about to start", "a:1", []model.Container{init("side", "", "a:1", model.ContainerWaiting, true)},
			"m", "hold a: waiting-for-deploy []"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := statetest.Pod("a", "p", "m", tc.main)
			pod.Pod.InitContainers = tc.inits
			s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a").Then(pod, statetest.Change("a", "/src/a/x"))
			v := s.View()
			m, u, pods := state.Resources.In(v).Value("a").Manifest, state.Updates.In(v).Value("a"), state.PodsOf(v, "a")
			var live []string
			for _, l := range Live(m, u, pods) {
				live = append(live, l.ID)
			}
			if got := strings.Join(live, " "); got != tc.live {
				t.Errorf("live: %q, want %q", got, tc.live)
			}
			if got := text(Decide(v, nil)); got != tc.want {
				t.Errorf("decided %s, want %s", got, tc.want)
			}
		})
	}
}
