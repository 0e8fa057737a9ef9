package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
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
	parts, cleanup, err := initParts(ctx, o, func() { cancel(errStopped) })
	if err != nil {
		return o.notBegun(err)
	}
	defer cleanup()
	bugs, restore := reportBugs(parts.Logs, parts.Log)
	defer restore()
	defer bugs.watchCrashes(flags.Registry(), parts.Claim)()
	warnExposed(o, parts)
	parts.View = newView(o, parts, quit)
	var reporter *cireport.Reporter
	if o.command == state.CommandCI {
		reporter = cireport.New(o.report.lines)
		parts.Report = reporter
	}
	e, err := engine.New(parts.Store, parts.Parts)
	if err != nil {
		return err
	}
	if _, streams := parts.View.(*stream.Subscriber); streams {
		greet(o, parts)
	}
	is := parts.Claim.Info() // which publishStart changes
	var publishing sync.WaitGroup
	publishing.Go(func() { publishStart(ctx, parts) })
	publishing.Go(func() { rememberProject(ctx, parts.Store, is) })
	publishing.Go(func() { collectInPauses(ctx, parts.Store) })
	err = bugs.explain(e.Run(ctx))
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

// newView returns the screen, or the stream if there is no terminal or lines were requested.
func newView(o options, p sessionParts, quit func()) store.Subscriber {
	if o.stream || !command.Interactive() {
		lines := o.lines
		lines.Logs, lines.Out = p.Logs, o.human()
		return stream.New(lines)
	}
	o.global.Terminal.Screen.Store(true)
	return hud.New(hud.Options{Logs: p.Logs, Quit: quit, Stats: p.Store.Stats(), Object: p.object, Ignores: ignores(),
		LayoutFile: layoutFile(p.Claim), Version: command.Version})
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

func greet(o options, p sessionParts) {
	fmt.Fprintf(o.human(), "hone v%s\n", command.Version)
	fmt.Fprintf(o.human(), "Session %s\n", p.Claim.Info().Name)
	if p.Session.URL != "" {
		fmt.Fprintf(o.human(), "Session API at %s\n", p.Session.URL)
	}
}
