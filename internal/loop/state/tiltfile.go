package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Tiltfile is the one entry of table tiltfiles.
type Tiltfile struct {
	Path string
	// Loaded is set after the first evaluation, successful or not; Good after the first successful one.
	Loaded bool
	Good   bool
	// Result is the result of the last successful evaluation; ConfigFiles and Ignores belong to the last one, successful or not.
	Result      model.Tiltfile
	ConfigFiles []string
	Ignores     []model.Ignore
	// Read maps each file that the last evaluation read to the hash of its content, as in model.Tiltfile.
	Read map[string]uint64 `json:"-"`
	Served
	// Err is why the last evaluation failed, empty when it did not. Usage is set when the error is in the command line, so
	// that editing the Tiltfile would not fix it.
	Err      string
	Usage    bool
	Warnings []string
	// Changed are the files that changed since the last evaluation began, the newest of them at Made.
	Changed Changes
	Made    time.Time
	Circle
	Caused Caused
	// StirredAt is the time at which one of these files was last seen to change, even if the change was undone before it counted.
	StirredAt time.Time
	// Triggered is the time at which an evaluation without a change was requested; ArgsSet is set if the reason is new arguments,
	// and ExtensionsSet if it is extensions that were declared from outside.
	Triggered     time.Time
	ArgsSet       bool
	ExtensionsSet bool
	// StartedAt is the start of the current or last evaluation; FinishedAt is zero while it runs.
	StartedAt  time.Time
	FinishedAt time.Time
	// Awaits is the wait of the running evaluation; zero if it has not lasted.
	Awaits TiltfileAwaits
	Runs   int
	// Span is the log span of the last evaluation.
	Span string
	// Evaluations are the newest evaluations, newest first; the first one may be running.
	Evaluations []Evaluation
}

// Evaluation is one evaluation of the Tiltfile.
type Evaluation struct {
	// Serial numbers the evaluations of the session, from 1.
	Serial int
	// Reason is why it began, in the words of the log, and Files are the changed files that it includes, relative to the
	// Tiltfile where they lie below it.
	Reason string
	Files  []string
	// FinishedAt is zero while it runs. Err, Warnings and Resources describe its end, and Span is its log span.
	StartedAt, FinishedAt time.Time
	Err                   string
	Warnings, Resources   int
	Span                  string
	// Overtaken is set if it was aborted, since another one had to replace it.
	Overtaken bool
}

// begun returns the evaluations with a new one that begins at the given time.
func (t Tiltfile) begun(a TiltfileStarted) []Evaluation {
	e := Evaluation{Serial: t.Runs + 1, Reason: t.Reason(), Files: t.requested(a.At), StartedAt: a.At, Span: a.Span}
	return append([]Evaluation{e}, t.Evaluations[:min(len(t.Evaluations), keptBuilds-1)]...)
}

// requested returns the changed files that an evaluation that begins at the given time includes.
func (t Tiltfile) requested(at time.Time) []string {
	later := PathsOf(t.Changed.Later(at))
	files := slices.DeleteFunc(PathsOf(t.Changed), func(f string) bool { return slices.Contains(later, f) })
	return Relative(t.Path, files)
}

// ended returns the evaluations after the end of the newest one.
func (t Tiltfile) ended(a TiltfileLoaded) []Evaluation {
	if len(t.Evaluations) == 0 {
		return nil
	}
	out := slices.Clone(t.Evaluations)
	e := &out[0]
	e.FinishedAt, e.Err, e.Warnings, e.Resources = a.At, a.Err, len(a.Result.Warnings), len(a.Result.Manifests)
	return out
}

// Running reports whether an evaluation is under way.
func (t Tiltfile) Running() bool { return !t.StartedAt.IsZero() && t.FinishedAt.IsZero() }

// Pending reports whether an evaluation has to begin: the first one, or one for a change, a trigger, or new APIs of the cluster.
func (t Tiltfile) Pending() bool {
	return !t.Running() && (t.Runs == 0 || t.asked() || t.More)
}

// Due reports whether an evaluation has to begin now. While the session is paused, only one that the user has requested does;
// in an endless loop, the next round only after a pause.
func (t Tiltfile) Due(s Session) bool {
	if !t.Triggered.IsZero() {
		return t.Pending()
	}
	return t.Pending() && !s.Paused() && !t.Circling()
}

// Reason returns why an evaluation is pending or began, in the words of the log.
func (t Tiltfile) Reason() string {
	switch {
	case t.Runs == 0:
		return "Initial Build"
	case !t.Changed.Empty():
		return FilesChangedText(PathsOf(t.Changed))
	case t.ArgsSet:
		return "Arguments Changed"
	case t.ExtensionsSet:
		return "Extensions Changed"
	case t.More:
		return "The Cluster Serves More"
	}
	return "Triggered"
}

// TiltfileStarted reports that an evaluation has begun.
type TiltfileStarted struct {
	At   time.Time
	Span string
}

// TiltfileOvertaken reports that an evaluation was aborted, since another one has to replace it.
type TiltfileOvertaken struct{ At time.Time }

// TiltfileAwaits reports the wait of the running evaluation, such as "a command", and its beginning. What is empty once it is over.
type TiltfileAwaits struct {
	What  string
	Since time.Time
}

// TiltfileArgsSet is the user's request to evaluate the Tiltfile with other arguments from now on. The user's own switches are
// reset, since the arguments now decide which resources are enabled.
type TiltfileArgsSet struct{ Args []string }

// TiltfileLoaded reports that an evaluation has ended. With Err set, Result holds only ConfigFiles and Ignores.
type TiltfileLoaded struct {
	Result model.Tiltfile
	Err    string
	Usage  bool
	At     time.Time
}

func init() {
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a SessionStarted) {
		d.Put(Only, Tiltfile{Path: a.Session.Tiltfile, ConfigFiles: []string{a.Session.Tiltfile}})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a TiltfileStarted) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			t.Circle.begun(t.ownFiles(a) || t.onlyMore())
			t.Caused = t.Caused.running()
			t.Evaluations = t.begun(a)
			t.StartedAt, t.FinishedAt, t.Span, t.Awaits = a.At, time.Time{}, a.Span, TiltfileAwaits{}
			if !t.Triggered.After(a.At) {
				t.Triggered, t.ArgsSet, t.ExtensionsSet = time.Time{}, false, false
			}
			t.Changed, t.More = t.Changed.Later(a.At), false
			t.Runs++
			return t
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a TiltfileOvertaken) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			t.FinishedAt, t.Awaits = a.At, TiltfileAwaits{}
			t.Evaluations = slices.Clone(t.Evaluations)
			t.Evaluations[0].FinishedAt, t.Evaluations[0].Overtaken = a.At, true
			return t
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a TiltfileLoaded) {
		d.Update(Only, func(t Tiltfile) Tiltfile { return t.loaded(a) })
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a TiltfileAwaits) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			if t.Running() {
				t.Awaits = a
			}
			return t
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a FilesChanged) {
		for _, c := range a.Changes {
			if c.Target.Type == model.TargetConfigs {
				d.Update(Only, func(t Tiltfile) Tiltfile {
					t.Changed, t.Made, t.StirredAt = t.Changed.With(c.Paths, d.Now()), a.Made, d.Now()
					return t
				})
			}
		}
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], _ TiltfileArgsSet) {
		d.Update(Only, func(t Tiltfile) Tiltfile {
			t.Triggered, t.ArgsSet = d.Now(), true
			return t
		})
	})
	store.On(Sessions, func(d *store.Draft[Session], a TiltfileArgsSet) {
		d.Update(Only, func(s Session) Session {
			s.Args = a.Args
			return s
		})
	})
	store.On(Tiltfiles, func(d *store.Draft[Tiltfile], a ResourcesTriggered) {
		if slices.Contains(a.Names, model.TiltfileName) {
			d.Update(Only, func(t Tiltfile) Tiltfile {
				t.Triggered = d.Now()
				return t
			})
		}
	})
}

func (t Tiltfile) loaded(a TiltfileLoaded) Tiltfile {
	t.Loaded, t.FinishedAt, t.Err, t.Awaits = true, a.At, a.Err, TiltfileAwaits{}
	t.Usage, t.Evaluations = a.Usage, t.ended(a)
	t.Served.told(a.Result.Served, a.Result.ServedBy, t.StartedAt)
	t.ConfigFiles, t.Read, t.Ignores, t.Warnings = a.Result.ConfigFiles, a.Result.Read, a.Result.Ignores, a.Result.Warnings
	if a.Err == "" {
		if slices.Equal(t.Result.Secrets, a.Result.Secrets) {
			a.Result.Secrets = t.Result.Secrets // so that readers see at once that nothing has changed
		}
		t.Good, t.Result = true, a.Result
	}
	return t
}

// TheTiltfile returns the Tiltfile's state in v.
func TheTiltfile(v store.View) Tiltfile { return Tiltfiles.In(v).Value(Only) }
