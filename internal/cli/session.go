package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
)

// runSession wires a session and runs it to its end.
func runSession(ctx context.Context, o options) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	parts, cleanup, err := initParts(ctx, o)
	if err != nil {
		return err
	}
	defer cleanup()
	parts.View = newView(o, parts, quit)
	e, err := engine.New(parts.Store, parts.Parts)
	if err != nil {
		return err
	}
	if _, streams := parts.View.(*stream.Subscriber); streams {
		greet(o, parts)
	}
	if err := e.Run(ctx); err != nil {
		return err
	}
	if o.command == state.CommandCI && ctx.Err() != nil {
		return ctx.Err() // interrupted before the end
	}
	if o.command == state.CommandCI {
		fmt.Fprintln(o.global.stdout, "SUCCESS. All workloads are healthy.")
	}
	return nil
}

// newView returns the screen, or the stream where there is no terminal or lines were asked for.
func newView(o options, p sessionParts, quit func()) store.Subscriber {
	if o.stream || !interactive() {
		lines := o.lines
		lines.Logs, lines.Out = p.Logs, o.global.stdout
		return stream.New(lines)
	}
	o.global.terminal.screen.Store(true)
	return hud.New(hud.Options{Logs: p.Logs, Quit: quit, Stats: p.Store.Stats(), Version: Version})
}

func interactive() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

func greet(o options, p sessionParts) {
	fmt.Fprintf(o.global.stdout, "hone v%s\n", Version)
	if p.Session.URL != "" {
		fmt.Fprintf(o.global.stdout, "Session API at %s\n", p.Session.URL)
	}
}

// stateDir is where hone keeps what outlives a session.
func stateDir() string { return filepath.Join(xdg.StateHome, "hone") }
