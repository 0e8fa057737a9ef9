package commandcontroller

import (
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// circling reports whether changed files start the run as another round of an endless loop, which pauses.
func (r run) circling() bool { return len(r.files) > 0 && r.command.Circling(r.made) }

// circles slows down the endless loops of commands.
type circles struct {
	// named are the numbers of the runs whose pauses have been announced, by command.
	named map[string]int
	// pause fires when a pause is over.
	pause *time.Timer
}

// slowDown announces the pauses of the runs that are held, and ends them when it is time.
func (s *Subscriber) slowDown(rt *store.Runtime, wanted map[string]run, c *circles) {
	next := time.Hour
	for name, r := range wanted {
		if !r.circling() {
			continue
		}
		if r.command.Endless() && c.named[name] != r.command.Runs {
			c.named[name] = r.command.Runs
			logstore.Warnf(s.logs.Logger(r.log, r.command.Span, logstore.SourceRuntime),
				"WARNING: cmd %q is in a loop%s: %d runs in a row have changed what restarts it (%s); the next one waits for %s. "+
					"Let it write to another file, or leave that file out of the file watch",
				name, r.command.Caused.With(r.made), r.command.Rounds+1, strings.Join(state.Relative(state.TheTiltfile(rt.View()).Path, r.files), ", "), r.command.PauseText())
		}
		left := time.Until(r.command.CircleEnds(r.made))
		if left <= 0 {
			rt.Dispatch(state.CommandRoundDue{Name: name, Runs: r.command.Runs}) // which wakes this subscriber
			continue
		}
		next = min(next, left)
	}
	c.pause.Reset(next)
}
