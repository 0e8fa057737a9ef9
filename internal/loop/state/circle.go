package state

import (
	"iter"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// endlessRounds is the number of rounds in a row in which work has requested itself before the user is told: its pauses are longer
// than a second from there on. Code generators and formatters settle earlier.
const endlessRounds = 10

// shortRun is the longest run that is too short for a person to save a file during it, round after round.
const shortRun = time.Second

// clockSlack bounds how far the change times of files may lag behind the clock.
const clockSlack = 10 * time.Millisecond

// serverSlack is a bound of the difference between a server's times from its start until it writes a file. A twentieth of that time
// is added, up to as much again.
const serverSlack = 10 * clockSlack

// Circle detects endless loops: work that changes the files that request it. Nothing proves who has written a file, but files
// that change while the work runs, each time, and never between two runs, are most likely its own. Such work is not refused: it
// pauses, twice as long after each round, and a change that is made during a pause ends the pause.
//
// The pauses begin with milliseconds, so a person who happens to save a file during each run loses no time: once the pause is as
// long as the interval between the saves, the next save falls into the pause. While a server runs, files are its own only if they
// change as long after its start as they did after the start before. A person does not meet that moment round after round, and
// neither does an editor that saves by a clock: the pauses move the starts.
type Circle struct {
	// Rounds counts the runs in a row that were requested by files that had changed during the run before.
	Rounds int
	// Rested is the number of the run whose pause is over.
	Rested int
	// After is the time from the start of the server before until the change of the files that requested this run; zero if no
	// server ran, or if something else requested this run.
	After time.Duration
	// Led are the resources whose updates have led to this run: it was requested by files that changed during those updates. It is
	// empty for the Tiltfile and for declared commands, which have Caused instead.
	Led []model.ManifestName
}

// Endless reports whether the work has requested itself so often in a row that the user is told.
func (c Circle) Endless() bool { return c.Rounds >= endlessRounds }

// Pause returns the pause of the work before its next round: 2 ms after the first one, then twice as long each time, up to a
// minute.
func (c Circle) Pause() time.Duration { return min(time.Millisecond<<min(c.Rounds, 16), time.Minute) }

// PauseText is the pause of an endless loop, for people.
func (c Circle) PauseText() string { return c.Pause().Round(time.Second).String() }

// pauses reports whether the next round has to wait after the run with the given number.
func (c Circle) pauses(run int) bool { return c.Rounds > 0 && c.Rested != run }

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
	// server is the start of the server that the run has left running; zero if there is none. after is Circle.After of the run.
	server time.Time
	after  time.Duration
}

// serving returns the lap of a run that has left a server running.
func (l lap) serving(since time.Time, after time.Duration) lap {
	l.ended, l.server, l.after = since, since, after
	return l
}

// covers reports whether a file that was changed at the given time was changed while the run was under way.
func (l lap) covers(made time.Time) bool {
	return !made.Before(l.began.Add(-clockSlack)) && !made.After(l.ended)
}

// late reports whether a file was changed as long after the start of the server as the file that had requested the run was
// changed after the start before.
func (l lap) late(made time.Time) bool {
	d := l.sinceServer(made)
	if d <= 0 || l.after == 0 {
		return false
	}
	return (d - l.after).Abs() <= serverSlack+min(d/20, serverSlack)
}

// sinceServer returns the time from the start of the server until a change; zero if there is no server.
func (l lap) sinceServer(made time.Time) time.Duration {
	if l.server.IsZero() {
		return 0
	}
	return made.Sub(l.server)
}

// repeats reports whether the next run, which begins for files that were changed at the given time, repeats this one, and not
// only follows it: a person may save one file after the other while a long run or a server is under way.
func (l lap) repeats(next []string, made time.Time) bool {
	quick := l.ended.Sub(l.began) < shortRun && !l.late(made)
	return quick || len(l.files) == 0 || slices.Equal(l.files, next)
}

// rested returns when the pause after a change of the given time is over. It begins with the end of the run, or with the change of
// a server.
func (l lap) rested(made time.Time, pause time.Duration) time.Time {
	if made.After(l.ended) {
		return made.Add(pause)
	}
	return l.ended.Add(pause)
}

// lap returns the newest past build; ok is false if there is none, or if it ran in containers, where no files of this
// machine are changed.
func (u Update) lap() (l lap, ok bool) {
	if len(u.Builds) == 0 || u.Builds[0].InPlace() {
		return lap{}, false
	}
	b := u.Builds[0]
	l = lap{began: b.StartedAt, ended: b.FinishedAt, files: b.Files}
	if slices.ContainsFunc(u.Targets, func(t Target) bool { return t.serves }) {
		l = l.serving(b.FinishedAt, u.After)
	}
	return l, true
}

// Circling reports whether the pending changes of a resource are another round of an endless loop, whose pause is not over yet.
func Circling(v store.View, name model.ManifestName) bool {
	u := Updates.In(v).Value(string(name))
	if !u.pauses(u.Serial) || len(u.Pending()) == 0 {
		return false
	}
	return slices.Contains(u.leading(name, Updates.In(v).Refs(), v.At), name)
}

// CircleEnds returns when the pause before the next round is over, unless more files change after the given time.
func (u Update) CircleEnds(now time.Time) time.Time {
	l, _ := u.lap()
	return l.rested(u.SavedBefore(now), u.Pause())
}

// leading returns the resources that have led to the newest changes of a resource: its own server, or those whose update was under
// way, each after those that had led to that update. In a loop of several resources, that is their order.
func (u Update) leading(name model.ManifestName, updates iter.Seq[*store.Entry[Update]], now time.Time) (led []model.ManifestName) {
	made := u.SavedBefore(now)
	if l, ok := u.lap(); ok && l.late(made) {
		return []model.ManifestName{name}
	}
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
		return lap{began: b.StartedAt, ended: now, files: b.Files}, true
	}
	return u.lap()
}

// led returns the resources that have led to a build that begins now. It returns none if the build has another reason than
// changed files.
func (u Update) led(updates iter.Seq[*store.Entry[Update]], a BuildStarted) []model.ManifestName {
	if a.Reason != ReasonFiles {
		return nil
	}
	return u.leading(a.Resource, updates, a.At)
}

// round records that a build begins, which may be another round of a loop.
func (u *Update) round(updates iter.Seq[*store.Entry[Update]], a BuildStarted) {
	made := u.SavedBefore(a.At)
	l, ok := u.lap()
	u.Led = u.led(updates, a)
	u.Circle.begun(ok && slices.Contains(u.Led, a.Resource) && l.repeats(a.Files, made))
	u.After = 0
	if a.Reason == ReasonFiles {
		u.After = l.sinceServer(made)
	}
}

// lap returns the newest evaluation, as far as it has come at the given time.
func (t Tiltfile) lap(now time.Time) (l lap, ok bool) {
	if len(t.Evaluations) == 0 {
		return lap{}, false
	}
	e := t.Evaluations[0]
	if e.FinishedAt.IsZero() {
		return lap{began: e.StartedAt, ended: now, files: e.Files}, true
	}
	return lap{began: e.StartedAt, ended: e.FinishedAt, files: e.Files}, true
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
	return caused && l.repeats(t.requested(a.At), t.Made)
}

// changed reports whether a file was changed at the given time by an evaluation, or by an update that it has led to.
func (t Tiltfile) changed(l lap, made time.Time) bool { return l.covers(made) || t.Caused.covers(made) }

// lap returns the newest run. A command that runs on may be a server, for which people save files while it runs.
func (c DeclaredCommand) lap() lap {
	l := lap{began: c.StartedAt, ended: c.EndedAt, files: c.Files}
	if slices.Contains([]CommandState{CommandRunning, CommandStopped}, c.State) {
		l = l.serving(c.StartedAt, c.After)
	}
	return l
}

// Circling reports whether a change of files at the given time is another round of an endless loop, whose pause is not over yet.
func (c DeclaredCommand) Circling(made time.Time) bool {
	return c.pauses(c.Runs) && c.changed(made)
}

// CircleEnds returns when the pause after a change of files at the given time is over.
func (c DeclaredCommand) CircleEnds(made time.Time) time.Time {
	return c.lap().rested(made, c.Pause())
}

// round records that a run begins, which may be another round of a loop.
func (c *DeclaredCommand) round(a CommandStarted) {
	l := c.lap()
	c.Circle.begun(c.changed(a.Made) && l.repeats(a.Files, a.Made))
	c.After = 0
	if len(a.Files) > 0 {
		c.After = l.sinceServer(a.Made)
	}
}

// changed reports whether the newest run, or an update that it has led to, has changed a file at the given time.
func (c DeclaredCommand) changed(made time.Time) bool {
	l := c.lap()
	return l.covers(made) || l.late(made) || c.Caused.covers(made)
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
