package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud"
)

// unanswered is the time for which a session may leave a Ctrl-C unanswered before the next one detaches without an answer.
const unanswered = time.Second

func newAttach(g *command.Global) *cobra.Command {
	var f flags.Session
	var readOnly bool
	c := &cobra.Command{
		Use:   "attach",
		Short: "Show a running session in this terminal",
		Long: `Shows the whole screen of a running session in this terminal, with its own selection, scroll position and size. q or
Ctrl-C leaves it; the session keeps running. Ctrl-Z goes back to the shell, and fg shows the screen again. Any number of
terminals may be attached.

With --read-only the screen shows everything and has no key that changes anything, for a colleague's terminal or a monitor on
the wall. The session itself takes no request from such a screen.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			return Attach(cmd.Context(), g, session, readOnly)
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&readOnly, "read-only", false, "show the session without a way to change it")
	return c
}

// Attach shows a session until its user leaves, or the session ends. A screen that is read-only cannot change the session.
func Attach(ctx context.Context, g *command.Global, session *client.Client, readOnly bool) error {
	if !command.Interactive() {
		return problem.New("the screen needs a terminal, and this is not one", "hone logs -f follows the session line by line")
	}
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return fmt.Errorf("get the terminal's size: %w", err)
	}
	chosen, err := hud.LoadSettings()
	if err != nil {
		return err
	}
	about := terminal.FromEnvironment(os.Getenv)
	about.Term = cmp.Or(about.Term, "xterm-256color")
	about.Columns, about.Rows, about.UTF8, about.Settings = columns, rows, command.UTF8Locale(), chosen.Encode()
	about.Programs, about.Suspends, about.Commands = command.InputReopens, process.Suspends, !readOnly
	conn, err := session.Attach(ctx, about, readOnly)
	if err != nil {
		return err
	}
	g.Terminal.Begin()
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		g.Terminal.End()
		_ = conn.Close()
		return fmt.Errorf("take over the terminal: %w", err)
	}
	n := &localTerminal{conn: conn, job: process.NewJob(), session: session.Session, guard: g.Terminal}
	if !readOnly { // the commands in the settings are not for a read-only screen
		n.settings = chosen
	}
	said, err := n.relay(ctx)
	if said == "" {
		g.Terminal.Restore() // the session did not get to it
	}
	g.Terminal.Cook()
	g.Terminal.End()
	if said == "" && err == nil {
		said = "Detached from session " + session.Session.Name + ", which keeps running."
	}
	if said != "" {
		fmt.Fprintln(g.Stdout, said)
	}
	return err
}

// relay sends the terminal's input and sizes to the session and shows the session's output, until either side ends the
// connection. It returns the session's last message. If one of the user's programs has the terminal at that time, relay waits
// for it.
func (n *localTerminal) relay(ctx context.Context) (said string, err error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	conn := n.conn
	n.leave = leave
	if err := n.startInput(); err != nil {
		return "", errors.Join(err, conn.Close())
	}
	var watchers sync.WaitGroup
	watchers.Go(func() { command.WatchSizes(ctx, n.sendSize) })
	n.job.Hold()
	watchers.Go(func() { n.obey(ctx) })
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	said, err = n.show(ctx)
	leave()
	stop()
	_ = conn.Close()
	n.background.Wait()
	err = errors.Join(err, n.settle())
	n.stopInput()
	n.job.Free()
	watchers.Wait()
	return said, err
}

// show writes the session's output to the terminal, until its last message.
func (n *localTerminal) show(ctx context.Context) (string, error) {
	for {
		f, err := n.conn.Next()
		n.answered.Store(time.Now().UnixNano())
		switch {
		case ctx.Err() != nil:
			return "", nil //nolint:nilerr // the end of ctx has closed the connection
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return "", problem.New("the session is gone without having ended: it was killed, or it crashed", "hone sessions shows what still runs")
		case err != nil:
			return "", fmt.Errorf("read from the session: %w", err)
		case f.Kind == terminal.End:
			return string(f.Content), nil
		case f.Kind == terminal.Open:
			_ = hud.OpenBrowser(ctx, string(f.Content))
		case f.Kind == terminal.Command:
			if err := n.command(ctx, f); err != nil {
				return "", err
			}
		case slices.Contains([]terminal.Kind{terminal.Edit, terminal.Page, terminal.Rest, terminal.Shell}, f.Kind):
			if err := n.lend(ctx, n.program(f)); err != nil {
				return "", err
			}
		case f.Kind == terminal.Text:
			if _, err := os.Stdout.Write(f.Content); err != nil {
				return "", fmt.Errorf("write to the terminal: %w", err)
			}
		}
	}
}

// interrupts are the forms in which terminals send Ctrl-C: the plain byte, and two encodings that distinguish more keys.
var interrupts = [][]byte{{3}, []byte("\x1b[99;5u"), []byte("\x1b[27;5;99~")}

// sendInput sends the typed input. A session that hangs cannot handle the key that leaves it; the key is then handled here.
func (n *localTerminal) sendInput(in io.Reader) {
	b := make([]byte, 1024)
	var asked time.Time
	for {
		got, err := in.Read(b)
		if errors.Is(err, io.ErrClosedPipe) {
			return // closed by stopInput
		}
		if err != nil {
			n.leave()
			return
		}
		for _, key := range interrupts {
			if !bytes.Contains(b[:got], key) {
				continue
			}
			if !asked.IsZero() && time.Since(asked) > unanswered && n.answered.Load() < asked.UnixNano() {
				n.leave()
				return
			}
			if asked.IsZero() || n.answered.Load() > asked.UnixNano() {
				asked = time.Now()
			}
		}
		if n.conn.Send(terminal.Text, b[:got]) != nil {
			return // the reader of the output reports why
		}
	}
}
