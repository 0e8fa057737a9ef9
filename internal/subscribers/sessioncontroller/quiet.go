package sessioncontroller

import (
	"fmt"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// mostAwaited is the most things that a line about a wait names.
const mostAwaited = 4

// quiet breaks the silence of ci: it names the things that ci waits for when nothing else is logged.
type quiet struct {
	logs *logstore.Store
	said string
}

// note logs what ci waits for if the log has been quiet for long enough, and returns when to look again.
func (q *quiet) note(v store.View, now time.Time) (again time.Duration) {
	if state.TheTiltfile(v).Running() {
		return logstore.SayAfter // the evaluation says what it waits for
	}
	last := state.TheSession(v).StartedAt
	if newest := q.logs.Tail(logstore.Filter{MinLevel: logstore.LevelInfo}, 1); len(newest) > 0 {
		last = newest[0].Time
	}
	left := last.Add(logstore.SayAfter).Sub(now)
	if left > 0 {
		return left
	}
	waits := enumerate(awaited(v)) // which asks for the status of every resource
	if waits == q.said {
		left += logstore.SayAgain - logstore.SayAfter
	}
	if left > 0 {
		return left
	}
	log := q.logs.Logger("", "", logstore.SourceBuild)
	logstore.Infof(log, "Waiting: %s", waits)
	logstore.Flush(log)
	q.said = waits
	return logstore.SayAfter
}

// enumerate joins the first of many descriptions, and counts the others.
func enumerate(all []string) string {
	text := strings.Join(all[:min(len(all), mostAwaited)], "; ")
	if more := len(all) - mostAwaited; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
