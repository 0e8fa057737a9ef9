// Package tiltfileloader evaluates the Tiltfile: at the start, when a file that it read changes, and when the user requests
// it.
package tiltfileloader

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/patience"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/tiltfile"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
	"github.com/hone-dev/hone/pkg/model"
)

// Loader evaluates a Tiltfile; tiltfile.Load is the real one.
type Loader func(ctx context.Context, o tiltfile.Options) tiltfile.Result

// Subscriber is the TiltfileLoader. Evaluations run one at a time. A change during an evaluation leads to the next one;
// when the user saves a file of the program, or requests another evaluation, the running one is aborted.
type Subscriber struct {
	load Loader
	// options are the options of every evaluation, without path, arguments and logger.
	options tiltfile.Options
	logs    *logstore.Store
	now     func() time.Time
}

// New returns the subscriber. Results of one evaluation are cached for the next ones.
func New(load Loader, options tiltfile.Options, logs *logstore.Store) *Subscriber {
	options.Memo = memo.New()
	return &Subscriber{load: load, options: options, logs: logs, now: time.Now}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name: "TiltfileLoader",
		Doc:  "Evaluates the Tiltfile at the start and whenever a file that it read changes, or the cluster serves more than it was told.",
		Inputs: store.Reads(state.Sessions, state.Tiltfiles, state.Clusters, state.Buttons, state.Commands, state.FileWatches, state.ConfigMaps,
			state.Extensions, state.ExtensionRepos),
		Outputs:   store.Emits(state.TiltfileStarted{}, state.TiltfileOvertaken{}, state.TiltfileAwaits{}, state.TiltfileLoaded{}, state.TiltfileRoundDue{}, state.ServedReported{}),
		Externals: []string{"filesystem", "process", "kubernetes"},
		Stage:     store.StageController,
		Feedback:  "an evaluation clears the changes that requested it, and its declarations request none",
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	done := -1
	circle := circle{named: -1, pause: time.NewTimer(time.Hour)}
	defer circle.pause.Stop()
	question := newQuestion(s.capabilities)
	defer question.stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
		case <-circle.pause.C:
		case <-question.due.C:
		case report := <-question.answers:
			s.answered(rt, report)
		}
		v := rt.View()
		question.ask(ctx, v, s.now())
		t := state.TheTiltfile(v)
		if t.Circling() && t.Pending() {
			s.slowDown(rt, t, &circle)
		}
		if t.Path == "" || !t.Due(state.TheSession(v)) || t.Runs == done {
			continue
		}
		s.evaluate(ctx, rt)
		if ctx.Err() == nil {
			rt.Succeeded()
		}
		done = t.Runs // until the snapshot shows the run just made, it is not pending again
	}
}

// shownAfter is the time after which a wait of an evaluation is shown: most commands end sooner.
const shownAfter = logstore.SayAfter / 4

// errOvertaken ends an evaluation that another one has to replace.
var errOvertaken = errors.New("the Tiltfile was changed meanwhile")

// evaluate makes one evaluation.
func (s *Subscriber) evaluate(ctx context.Context, rt *store.Runtime) {
	v := rt.View()
	t := state.TheTiltfile(v)
	span := fmt.Sprintf("tiltfile:%d", t.Runs+1)
	log := s.logs.Logger(model.TiltfileName, span, logstore.SourceBuild)
	rt.Dispatch(state.TiltfileStarted{At: v.At, Span: span})
	if t.Runs > 0 {
		logstore.Infof(log, "%s", s.reason(t))
	}
	logstore.Infof(log, "Loading Tiltfile at: %s", t.Path)

	o := Asked(v, s.options)
	waits := patience.New(func(text string) {
		own := s.logs.Logger(model.TiltfileName, span, logstore.SourceBuild) // log may hold a part of a line
		logstore.Infof(own, "%s", text)
		logstore.Flush(own)
	})
	waits.Show(shownAfter, func(what string, since time.Time) {
		rt.Dispatch(state.TiltfileAwaits{What: s.logs.Scrub(what), Since: since})
	})
	o.Logger, o.Await, o.WarnLater = waits.Logger(log), waits.Await, true
	secrets := slices.Clone(t.Result.Secrets)
	o.OnSecrets = func(more []model.Secret) {
		secrets = append(secrets, more...)
		s.logs.SetSecrets(secrets)
	}
	r, overtaken := s.attend(ctx, rt, o, t)
	switch {
	case ctx.Err() != nil:
		return
	case overtaken:
		logstore.Infof(log, "Starting over: %s", errOvertaken)
		logstore.Flush(log)
		rt.Dispatch(state.TiltfileOvertaken{At: s.now()})
		return
	}
	if clash := state.Clash(rt.View(), r.APIObjects); r.Err == nil && clash != "" {
		r.Err = clashError(clash)
	}
	loaded := Loaded(r, secrets, s.now())
	if r.Err == nil {
		s.logs.SetSecrets(r.Secrets)
	}
	for _, w := range r.Warnings {
		logstore.Warnf(log, "WARNING: %s", w)
	}
	if r.Err != nil {
		logstore.Errorf(log, "%s", loaded.Err)
	} else {
		logstore.Infof(log, "Successfully loaded Tiltfile (%s)", r.Took.Round(100*time.Microsecond))
	}
	logstore.Flush(log)
	rt.Dispatch(loaded)
}

// Loaded returns the action that reports an evaluation. Its error is free of the given secrets.
func Loaded(r tiltfile.Result, secrets []model.Secret, at time.Time) state.TiltfileLoaded {
	loaded := state.TiltfileLoaded{Result: r.Tiltfile, At: at}
	if r.Err != nil {
		loaded.Err = logstore.NewScrubber(secrets).Text(problem.Text(r.Err))
		loaded.Usage = errors.As(r.Err, new(*fault.ArgsError))
	}
	return loaded
}

// Asked returns the options of an evaluation, from the options of all evaluations of the session.
func Asked(v store.View, o tiltfile.Options) tiltfile.Options {
	session := state.TheSession(v)
	o.Path, o.Args, o.Subcommand, o.Given = state.TheTiltfile(v).Path, session.Args, string(session.Command), state.ForeignExtensions(v)
	return o
}

// attend waits for an evaluation, and aborts it when it is overtaken: it might never end on its own.
func (s *Subscriber) attend(ctx context.Context, rt *store.Runtime, o tiltfile.Options, t state.Tiltfile) (r tiltfile.Result, overtaken bool) {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan tiltfile.Result)
	go func() { ended <- s.run(inner, o, t) }()
	for {
		select {
		case r := <-ended:
			return r, overtaken && r.Err != nil
		case <-rt.Wake():
			v := rt.View()
			if now := state.TheTiltfile(v); !overtaken && now.Runs > t.Runs && overtakes(now, state.TheSession(v)) {
				overtaken = true
				stop(errOvertaken)
			}
		}
	}
}

// overtakes reports whether an event since the evaluation began aborts it: a save of a file of the program, or a request of
// the user. Other files do not, since programs write such files while they are evaluated. While the session is paused, or
// in an endless loop, no save does: the evaluation that would follow waits.
func overtakes(t state.Tiltfile, s state.Session) bool {
	if !t.Triggered.IsZero() && !t.ExtensionsSet {
		return true
	}
	return !s.Paused() && !t.Endless() && slices.ContainsFunc(state.PathsOf(t.Changed), func(path string) bool {
		return path == t.Path || strings.Contains(filepath.Base(path), "Tiltfile") || slices.Contains([]string{".tilt", ".star", ".bzl"}, filepath.Ext(path))
	})
}

// run turns a panic of the evaluation into an error: without an end of this evaluation there would never be a next one.
// The files that are known so far stay watched.
func (s *Subscriber) run(ctx context.Context, o tiltfile.Options, t state.Tiltfile) (r tiltfile.Result) {
	defer func() {
		if p := recover(); p != nil {
			bug.Caught("evaluate the Tiltfile", p)
			r = tiltfile.Result{Err: fmt.Errorf("hone made a mistake while evaluating the Tiltfile: %v", p)}
			r.ConfigFiles, r.Ignores = t.ConfigFiles, t.Ignores
		}
	}()
	return s.load(ctx, o)
}

// clashError reports that the Tiltfile declares an object that already exists.
func clashError(object string) error {
	return problem.New(fmt.Sprintf("the Tiltfile declares the %s, but one with this name was created through the session's API", object),
		"delete it with hone delete, or rename the one in the Tiltfile")
}

func (s *Subscriber) reason(t state.Tiltfile) string {
	if t.Changed.Empty() {
		return t.Reason()
	}
	return state.FilesChangedText(state.Relative(t.Path, state.PathsOf(t.Changed)))
}
