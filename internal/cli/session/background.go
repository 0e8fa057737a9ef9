package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/settings"
)

// mostInBackground is the largest number of commands that may run without the terminal at the same time, including commands whose
// answers are still being sent. Sessions request far fewer.
const mostInBackground = 64

// command runs the user's own command that a frame names. If the session may not run it, or describes it wrongly, the answer is the
// reason.
func (n *localTerminal) command(ctx context.Context, f terminal.Frame) error {
	r, err := f.Request()
	if err != nil {
		return fmt.Errorf("read from the session: %w", err)
	}
	c, refused := own(n.settings, r)
	if r.Number == terminal.InTerminal {
		return n.lend(ctx, func(ctx context.Context) error {
			if refused != nil {
				return refused
			}
			_, err := hud.RunCommand(context.WithoutCancel(ctx), c, r.Env)
			return err
		})
	}
	if n.busy.Add(1) > mostInBackground {
		return errors.New("read from the session: it asks for too many commands at once")
	}
	n.background.Go(func() {
		defer n.busy.Add(-1)
		output := ""
		err := refused
		if err == nil {
			output, err = hud.RunCommand(ctx, c, r.Env)
		}
		failure := ""
		if err != nil {
			failure = problem.Text(err)
		}
		_ = n.conn.SendEnded(r.Number, output, failure) // the reader of the session's frames reports why it cannot be sent
	})
	return nil
}

// own returns the user's own command that a session requests, or the reason why it does not run. Only the user's settings define
// the command: a session can neither bring a command line nor change it.
func own(s settings.Settings, r terminal.Request) (settings.Command, error) {
	c, ok := s.Command(r.Name)
	if !ok {
		return c, problem.New(fmt.Sprintf("this terminal has no command %q of its own", r.Name), "attach again: the commands are read at the beginning")
	}
	if c.Terminal != (r.Number == terminal.InTerminal) {
		return c, fmt.Errorf("the session has misunderstood whether the command %q needs the terminal", c.Name)
	}
	if err := settings.CheckFacts(r.Env); err != nil {
		return c, fmt.Errorf("the command %q was not run: %w", c.Name, err)
	}
	return c, nil
}
