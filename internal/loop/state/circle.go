package state

import (
	"iter"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// toleratedRounds is the number of rounds in a row in which work may request itself before it has to pause between its rounds:
// code generators and formatters settle earlier.
const toleratedRounds = 5

// shortRun is the longest run that is too short for a person to save a file during it, round after round.
const shortRun = time.Second

// serverStart is the time after its start in which a server may write its files.
const serverStart = time.Second

// clockSlack bounds how far the change times of files may lag behind the clock.
const clockSlack = 10 * time.Millisecond

// Circle detects endless loops: work that changes the files that request it. Nothing proves who has written a file, but files
// that change while the work runs, each time, and never between two runs, are most likely its own. Such work is not refused: it
// pauses, longer after each round, and a change that is made during a pause ends the pause.
type Circle struct {
	// Rounds counts the runs in a row that were requested by files that had changed during the run before.
	Rounds int
	// Rested is the number of the run whose pause is over.
	Rested int
	// Led are the resources whose updates have led to this run: it was requested by files that changed during those updates. It is
	// empty for the Tiltfile and for declared commands, which have Caused instead.
	Led []model.ManifestName
}

// Endless reports whether the work has requested itself too often in a row.
func (c Circle) Endless() bool { return c.Rounds >= toleratedRounds }

// Pause returns the pause of the work before its next round.
func (c Circle) Pause() time.Duration { return RetryPause(c.Rounds - toleratedRounds + 1) }

// pauses reports whether the next round has to wait after the run with the given number.
func (c Circle) pauses(run int) bool { return c.Endless() && c.Rested != run }

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

// Circling reports whether the pending changes of a resource are another round of an endless loop, whose pause is not over yet.
func Circling(v store.View, name model.ManifestName) bool {
	u := Updates.In(v).Value(string(name))
	return u.pauses(u.Serial) && slices.Contains(leading(Updates.In(v).Refs(), u.SavedBefore(v.At), v.At), name)
}

// CircleEnds returns when the pause before the next round is over.
func (u Update) CircleEnds() time.Time {
	l, _ := u.lap()
	return l.ended.Add(u.Pause())
}

// leading returns the resources that have led to a change of files at the given time: those whose update was under way, each
// after those that had led to that update. In a loop of several resources, that is their order.
func leading(updates iter.Seq[*store.Entry[Update]], made, now time.Time) (led []model.ManifestName) {
	for e := range updates {
		if l, ok := e.Value.newestLap(now); ok && l.covers(made) {
			led = append(append(led, e.Value.Led...), model.ManifestName(e.ID))
		}
	}
	return lastOfEach(led)
}

// lastOfEach drops a name where it comes again later.
func lastOfEach(names []model.ManifestName) (out []model.ManifestName) {
	for i, name := range names {
		if !slices.Contains(names[i+1:], name) {
			out = append(out, name)
		}
	}
	return out
}

// newestLap returns the running build, as far as it has come at the given time, or else the newest past one.
func (u Update) newestLap(now time.Time) (l lap, ok bool) {
	if b := u.Current; b != nil && !b.InPlace() {
		return lap{b.StartedAt, now, b.Files}, true
	}
	return u.lap()
}

// led returns the resources that have led to a build that begins now. It returns none if the build has another reason than
// changed files.
func (u Update) led(updates iter.Seq[*store.Entry[Update]], a BuildStarted) []model.ManifestName {
	if a.Reason != ReasonFiles {
		return nil
	}
	return leading(updates, u.SavedBefore(a.At), a.At)
}

// repeated reports whether a build that begins now repeats the newest one.
func (u Update) repeated(a BuildStarted) bool {
	l, ok := u.lap()
	return ok && l.repeats(a.Files)
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
	if !ok || !t.Triggered.IsZero() || !t.pauses(t.Runs) {
		return false
	}
	return t.onlyMore() || t.changed(l, t.Made)
}

// CircleEnds returns when the pause before the next round is over.
func (t Tiltfile) CircleEnds() time.Time { return t.FinishedAt.Add(t.Pause()) }

// ownFiles reports whether an evaluation that begins now for changed files repeats the one before, whose files they are.
func (t Tiltfile) ownFiles(a TiltfileStarted) bool {
	l, ok := t.lap(a.At)
	caused := ok && t.Triggered.IsZero() && t.changed(l, t.Made)
	return caused && l.repeats(t.requested(a.At))
}

// changed reports whether a file was changed at the given time by an evaluation, or by an update that it has led to.
func (t Tiltfile) changed(l lap, made time.Time) bool { return l.covers(made) || t.Caused.covers(made) }

// lap returns the newest run. A command that runs on may be a server, for which people save files while it runs; its own are
// those that it writes at its start.
func (c DeclaredCommand) lap() lap {
	l := lap{c.StartedAt, c.EndedAt, c.Files}
	if slices.Contains([]CommandState{CommandRunning, CommandStopped}, c.State) {
		l.ended = c.StartedAt.Add(serverStart)
	}
	return l
}

// Circling reports whether a change of files at the given time is another round of an endless loop, whose pause is not over yet.
func (c DeclaredCommand) Circling(made time.Time) bool {
	return c.pauses(c.Runs) && c.changed(made)
}

// CircleEnds returns when the pause before the next round is over.
func (c DeclaredCommand) CircleEnds() time.Time {
	return c.lap().ended.Add(c.Pause())
}

// ownFiles reports whether a run that begins for changed files repeats the one before, whose files they are.
func (c DeclaredCommand) ownFiles(a CommandStarted) bool {
	return c.changed(a.Made) && c.lap().repeats(a.Files)
}

// changed reports whether the newest run, or an update that it has led to, has changed a file at the given time.
func (c DeclaredCommand) changed(made time.Time) bool {
	return c.lap().covers(made) || c.Caused.covers(made)
}

// CommandRoundDue reports that the pause before the next round of an endless loop of a declared command is over.
type CommandRoundDue struct {
	Name string
	Runs int
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
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a CommandRoundDue) {
		d.Update(a.Name, func(c DeclaredCommand) DeclaredCommand {
			c.Rested = a.Runs
			return c
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a TiltfileRoundDue) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			t.Rested = a.Runs
			return t
		})
	})
}
