package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// toleratedRounds is how often in a row work may request itself before it has to pause between its rounds: code generators
// and formatters settle earlier.
const toleratedRounds = 5

// shortRun is a run in which nobody saves a file by hand, round after round.
const shortRun = time.Second

// serverStart is how long a server may write its files after its start.
const serverStart = time.Second

// clockSlack is how far behind the clock the change times of files may be.
const clockSlack = 10 * time.Millisecond

// Circle tells endless loops: work that changes the files that request it. Nothing proves who has written a file, but files
// that change while the work runs, each time, and never between two runs, are most likely its own. Such work is not
// refused: it pauses, longer after each round, and a change that is made during a pause ends the pause.
type Circle struct {
	// Rounds is how many runs in a row were requested by files that had changed while the run before was under way.
	Rounds int
	// Rested is the number of the run whose pause is over.
	Rested int
}

// Endless reports whether the work has requested itself too often in a row.
func (c Circle) Endless() bool { return c.Rounds >= toleratedRounds }

// Pause is how long the work pauses before its next round.
func (c Circle) Pause() time.Duration { return RetryPause(c.Rounds - toleratedRounds + 1) }

// begun records that a run begins.
func (c *Circle) begun(ownFiles bool) {
	c.Rounds++
	if !ownFiles {
		c.Rounds = 0
	}
}

// lap is a past run of some work.
type lap struct {
	began, ended time.Time
	// files are those that had requested it.
	files []string
}

// covers reports whether a file that was changed at the given time was changed while the run was under way.
func (l lap) covers(made time.Time) bool {
	return !made.Before(l.began.Add(-clockSlack)) && !made.After(l.ended)
}

// repeats reports whether the next run, which begins for the given files, repeats this one, and not only follows it: a
// person may save one file after the other while a long run is under way.
func (l lap) repeats(next []string) bool {
	return l.ended.Sub(l.began) < shortRun+serverStart || len(l.files) == 0 || slices.Equal(l.files, next)
}

// lap returns the newest past build; ok is false if there is none, or if it ran in containers, where no files of this
// machine are changed.
func (u Update) lap() (l lap, ok bool) {
	if len(u.Builds) == 0 || u.Builds[0].InPlace() {
		return lap{}, false
	}
	b := u.Builds[0]
	l = lap{b.StartedAt, b.FinishedAt, b.Files}
	if slices.ContainsFunc(u.Targets, func(t Target) bool { return t.serves }) {
		l.ended = l.ended.Add(serverStart)
	}
	return l, true
}

// Circling reports whether the pending changes are another round of an endless loop, whose pause is not over yet.
func (u Update) Circling() bool {
	l, ok := u.lap()
	return ok && u.Endless() && u.Rested != u.Serial && len(u.Saves) > 0 && l.covers(u.Saves[len(u.Saves)-1].Made)
}

// CircleEnds returns when the pause before the next round is over.
func (u Update) CircleEnds() time.Time {
	l, _ := u.lap()
	return l.ended.Add(u.Pause())
}

// ownFiles reports whether a build that begins now for changed files repeats the one before, whose files they are.
func (u Update) ownFiles(a BuildStarted) bool {
	l, ok := u.lap()
	return ok && a.Reason == ReasonFiles && l.covers(u.savedBefore(a.At)) && l.repeats(a.Files)
}

// lap returns the newest evaluation, as far as it has come at the given time.
func (t Tiltfile) lap(now time.Time) (l lap, ok bool) {
	if len(t.Evaluations) == 0 {
		return lap{}, false
	}
	e := t.Evaluations[0]
	if e.FinishedAt.IsZero() {
		return lap{e.StartedAt, now, e.Files}, true
	}
	return lap{e.StartedAt, e.FinishedAt, e.Files}, true
}

// Circling reports whether the changes are another round of an endless loop, whose pause is not over yet.
func (t Tiltfile) Circling() bool {
	l, ok := t.lap(t.FinishedAt)
	return ok && t.Endless() && t.Rested != t.Runs && t.Triggered.IsZero() && (t.onlyMore() || l.covers(t.Made))
}

// CircleEnds returns when the pause before the next round is over.
func (t Tiltfile) CircleEnds() time.Time { return t.FinishedAt.Add(t.Pause()) }

// ownFiles reports whether an evaluation that begins now for changed files repeats the one before, whose files they are.
func (t Tiltfile) ownFiles(a TiltfileStarted) bool {
	l, ok := t.lap(a.At)
	return ok && t.Triggered.IsZero() && l.covers(t.Made) && l.repeats(t.requested(a.At))
}

// RoundDue reports that the pause before the next round of an endless loop of updates is over.
type RoundDue struct {
	Resource model.ManifestName
	Serial   int
}

// TiltfileRoundDue reports that the pause before the next round of an endless loop of evaluations is over.
type TiltfileRoundDue struct{ Runs int }

func init() {
	store.On(Updates, func(d *store.Draft[Update], a RoundDue) {
		d.Update(string(a.Resource), func(u Update) Update {
			u.Rested = a.Serial
			return u
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a TiltfileRoundDue) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			t.Rested = a.Runs
			return t
		})
	})
}
