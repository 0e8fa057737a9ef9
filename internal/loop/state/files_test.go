package state_test

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestNoticed checks which changes are known before they have settled. A single change that needs more than a copy wakes no reader.
func TestNoticed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		paths []string
		want  int
	}{
		{"one that is copied", []string{"/src/a/x"}, 1},
		{"one that is also run", []string{"/src/a/run"}, 0},
		{"one that needs an image", []string{"/src/b"}, 0},
		{"one of each", []string{"/src/a/x", "/src/a/run"}, 2}, // neither is copied before the other
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := statetest.K8s("a", statetest.Image("a"))
			m.Images[0].LiveUpdate = model.LiveUpdate{
				Syncs: []model.Sync{{LocalPath: "/src/a", RemotePath: "/app"}}, Runs: []model.Run{{Triggers: []string{"/src/a/run"}}},
			}
			s := statetest.New(statetest.Session, statetest.Loaded(m)).Deployed("a")
			before := s.View().Version(state.Updates.Name())
			s.Then(state.FilesNoticed(statetest.Change("a", tc.paths...)))
			if got := state.Updates.In(s.View()).Value("a").Noticed[model.ImageID("a")].Len(); got != tc.want {
				t.Errorf("%d are noticed, want %d", got, tc.want)
			}
			if changed := s.View().Version(state.Updates.Name()) != before; changed != (tc.want > 0) {
				t.Errorf("the table changes: %t", changed)
			}
		})
	}
}
