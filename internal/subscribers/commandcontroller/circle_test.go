package commandcontroller

import (
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestCirclesAreSlowedDown runs a command that changes a file that restarts it.
func TestCirclesAreSlowedDown(t *testing.T) {
	f := start(t)
	o := model.APIObjects{FileWatches: []model.FileWatch{{Name: "src"}}, Commands: []model.Command{
		script("gen", "true", func(c *model.Command) { c.RestartOn.FileWatches = []string{"src"} }),
	}}
	f.Dispatch(declared(o))
	written := func(made time.Time) {
		f.Dispatch(state.FilesChanged{Made: made, At: time.Now(), Changes: []state.FileChange{
			{Target: model.TargetID{Type: model.TargetFileWatch, Name: "src"}, Paths: []string{"/src/gen.txt"}}}})
	}
	c := f.ended("gen", 1, state.CommandSucceeded)
	for n := 2; n <= 11; n++ {
		written(c.EndedAt)
		c = f.ended("gen", n, state.CommandSucceeded)
	}
	written(c.EndedAt)
	f.says("(Tiltfile)", `cmd "gen" is in a loop: 11 runs in a row have changed what restarts it (gen.txt); the next one waits for 1s`)
	c = f.ended("gen", 12, state.CommandSucceeded)
	if c.Rested != 11 {
		t.Errorf("the next run did not wait for the end of the pause: %+v", c)
	}
	written(c.EndedAt)
	f.Until("the second pause", func(v store.View) bool { return state.FileWatches.In(v).Value("src").Changes == 12 })
	written(time.Now()) // by a person: it is not held
	c = f.ended("gen", 13, state.CommandSucceeded)
	if c.Rounds != 0 || c.Rested != 11 {
		t.Errorf("a save waits, or counts as a round: %+v", c)
	}
}
