package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cli/session"
	"github.com/hone-dev/hone/internal/cli/shell"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// errStopped is the cause of the end of a session that was stopped from outside.
var errStopped = errors.New("the session was stopped")

// runSession wires a session and runs it to its end.
func runSession(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quit := func() { cancel(nil) }
	if o.hasScreen() {
		var err error
		if o.settings, err = hud.LoadSettings(); err != nil {
			return o.notBegun(err)
		}
	}
	if o.project == nil {
		p, err := opened.Open(o.global, o.choice, o.global.Printer(o.human(), o.global.Stderr))
		if err != nil {
			return o.notBegun(err)
		}
		defer p.Close()
		o.project = p
	}
	parts, cleanup, err := initParts(ctx, o, func() { cancel(errStopped) })
	if err != nil {
		return o.notBegun(err)
	}
	defer cleanup()
	o.global.Secrets.Follow(parts.Logs.Scrub)
	bugs, restore := reportBugs(parts.Logs, parts.Log)
	defer restore()
	defer bugs.watchCrashes(parts.Claim)()
	warnExposed(o, parts)
	if o.command == state.CommandCI {
		is := parts.Claim.Info()
		_, end := turn{is.Tiltfile, is.Context, is.Namespace, fmt.Sprintf("hone %s (pid %d)", o.command, is.PID), o.global.Stderr}.take(ctx)
		defer end()
	}
	var e *engine.Engine
	engine.Replay(parts.Parts, parts.Logs)
	parts.View = newView(ctx, o, parts, quit, func() store.View { v, _ := e.End(); return v })
	var reporter *cireport.Reporter
	if o.command == state.CommandCI {
		reporter = cireport.New(o.report.lines)
		if o.report.waterfall {
			reporter.KeepCourse()
		}
		parts.Report = reporter
	}
	e, err = engine.New(parts.Store, parts.Parts)
	if err != nil {
		return err
	}
	greet(o, parts)
	is := parts.Claim.Info() // which publishStart changes
	var publishing sync.WaitGroup
	publishing.Go(func() { publishStart(ctx, parts) })
	if !o.project.IsAlone() { // the Tiltfile declares more than the session works on
		publishing.Go(func() { rememberProject(ctx, parts.Store, is) })
	}
	publishing.Go(func() { bugs.reportCrashes(ctx, parts.Store, flags.Registry()) })
	publishing.Go(func() { collectInPauses(ctx, parts.Store) })
	publishing.Go(func() { sweepReadOnly(ctx, o.project, parts.Logs.Logger(model.TiltfileName, "", logstore.SourceBuild)) })
	err = e.Run(ctx)
	if o.hasScreen() && !errors.As(err, new(*bug.Report)) {
		fmt.Fprint(o.global.Stdout, bugs.summary())
	}
	err = bugs.explain(err)
	cause := context.Cause(ctx) // of an end from outside
	cancel(nil)
	publishing.Wait()
	if o.snapshot != nil {
		if failed := exitSnapshot(o.snapshot, e, parts.Logs); failed != nil {
			err = errors.Join(err, failed)
		} else {
			fmt.Fprintf(o.global.Stderr, "Snapshot in %s\n", o.snapshot.Path())
		}
	}
	if reporter == nil {
		return err
	}
	end, at := e.End()
	return o.conclude(conclusion{reporter: reporter, end: end, now: parts.Store.Snapshot().All(), at: at, logs: parts.Logs}, err, cause)
}

// human returns the output for people.
func (o options) human() io.Writer {
	if o.report.lines != nil {
		return o.global.Stderr
	}
	return o.global.Stdout
}

// hasScreen reports whether the session shows the screen.
func (o options) hasScreen() bool { return !o.stream && command.Interactive() }

// newView returns the screen, or the stream if there is no terminal or lines were requested.
func newView(ctx context.Context, o options, p sessionParts, quit func(), end func() store.View) store.Subscriber {
	if !o.hasScreen() {
		lines := o.lines
		lines.Logs, lines.Out, lines.After = p.Logs, o.human(), p.Logs.Newest()
		return stream.New(lines)
	}
	o.global.Terminal.Begin()
	name := p.Claim.Info().Name
	hangup, lost := outlive(ctx, o, p)
	return hud.New(hud.Options{Logs: p.Logs, Quit: quit, Stats: p.Store.Stats(), Object: p.object, Previous: p.previous, Plan: p.plan, Revision: p.revision, Ignores: session.Ignores(),
		Suspend: o.global.Suspender(fmt.Sprintf("Session %s keeps running: fg shows it again, hone stop --session %s ends it.", name, name)),
		Web:     webOf(p.login), Page: p.login.Address(), Hangup: hangup, Lost: lost, End: end, KeepLog: func() (string, error) { return keepLog(p.Logs, name) },
		Settings: o.settings, LayoutFile: session.LayoutFile(p.Claim.Info()), Snapshot: saver(p.Store, p.Logs, p.Claim), Version: command.Version,
		Shell: func(ctx context.Context, resource, pod, container string) error {
			return shell.Child(ctx, p.Claim.Info(), resource, pod, container)
		}})
}

// warnExposed warns when other machines can reach the session.
func warnExposed(o options, p sessionParts) {
	if !p.listeners.exposed() {
		return
	}
	text := fmt.Sprintf("Other machines can reach this session's API at %s: anyone with its token can do everything that you can. Leave out --host unless you need that.", p.listeners.url)
	fmt.Fprintln(o.global.Stderr, "WARNING: "+text)
	logstore.Warnf(p.Logs.Logger(model.TiltfileName, "", logstore.SourceBuild), "%s", text)
}

// greet says where the session is. Before the screen is shown, that is only the address of the page: it stays in the terminal.
func greet(o options, p sessionParts) {
	if _, streams := p.View.(*stream.Subscriber); !streams {
		if p.Session.URL != "" {
			fmt.Fprintf(o.human(), "Web page at %s, O on the screen or hone open opens it\n", p.login.Address())
		}
		return
	}
	fmt.Fprintf(o.human(), "hone v%s\n", command.Version)
	fmt.Fprintf(o.human(), "Session %s\n", p.Claim.Info().Name)
	if p.Session.URL != "" {
		fmt.Fprintf(o.human(), "Session API at %s\n", p.Session.URL)
		fmt.Fprintf(o.human(), "Web page at %s, hone open opens it\n", p.login.Address())
	}
}
