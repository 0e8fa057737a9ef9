package buildcontrol

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestUpdateStatus(t *testing.T) {
	trigger := state.ResourcesTriggered{Names: []model.ManifestName{"a"}}
	fresh := func() *statetest.State {
		return statetest.New(statetest.Session, statetest.Loaded(statetest.Local("a")))
	}
	for want, s := range map[string]*statetest.State{
		"none":        fresh(),
		"in_progress": fresh().Begin("a"),
		"ok":          fresh().Deployed("a"),
		"error":       fresh().Begin("a").Finish("a", func(b *state.BuildCompleted) { b.Err = "oops" }),
		"pending":     fresh().Deployed("a").Then(trigger),
	} {
		if got := UpdateStatus(state.Updates.In(s.View()).Value("a")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
