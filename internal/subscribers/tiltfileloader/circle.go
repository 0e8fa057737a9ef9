package tiltfileloader

import (
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// circle slows down an endless loop of evaluations.
type circle struct {
	// named is the number of the evaluation whose pause has been announced.
	named int
	// pause fires when the pause is over.
	pause *time.Timer
}

// slowDown announces the pause in a loop, and ends it when it is time.
func (s *Subscriber) slowDown(rt *store.Runtime, t state.Tiltfile, c *circle) {
	if t.Endless() && c.named != t.Runs {
		c.named = t.Runs
		what, mend := cause(t)
		logstore.Warnf(s.logs.Logger(model.TiltfileName, t.Span, logstore.SourceBuild),
			"WARNING: the Tiltfile is in a loop%s: %d evaluations in a row have changed what it reads (%s); the next one waits for %s. %s",
			t.Caused.With(t.Made), t.Rounds+1, what, t.PauseText(), mend)
	}
	if left := t.CircleEnds().Sub(s.now()); left > 0 {
		c.pause.Reset(left)
		return
	}
	rt.Dispatch(state.TiltfileRoundDue{Runs: t.Runs}) // which wakes the loop
}

// cause returns the reason why a loop goes on, and how to leave the loop.
func cause(t state.Tiltfile) (what, mend string) {
	if t.Changed.Empty() {
		return "what the cluster serves", "Let no chart declare a kind only while the cluster serves another one"
	}
	return strings.Join(state.Relative(t.Path, state.PathsOf(t.Changed)), ", "),
		"Let it write only what has changed, write to another file, or ignore that file with watch_settings(ignore=…)"
}
