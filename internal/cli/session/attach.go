package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud"
)

// unanswered is how long a session may leave a Ctrl-C unanswered before the next one detaches without it.
const unanswered = time.Second

func newAttach(g *command.Global) *cobra.Command {
	var f flags.Session
	c := &cobra.Command{
		Use:   "attach",
		Short: "Show a running session in this terminal",
		Long: `Shows the whole screen of a running session in this terminal, with its own selection, scroll position and size. q or
Ctrl-C leaves it; the session keeps running. Any number of terminals may be attached.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			session, err := f.Find(cmd.Context())
			if err != nil {
				return err
			}
			return Attach(cmd.Context(), g, session)
		},
	}
	f.Add(c)
	return c
}

// Attach shows a session until its user leaves, or the session ends.
func Attach(ctx context.Context, g *command.Global, session *client.Client) error {
	if !command.Interactive() {
		return problem.New("the screen needs a terminal, and this is not one", "hone logs -f follows the session line by line")
	}
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return fmt.Errorf("get the terminal's size: %w", err)
	}
	conn, err := session.Attach(ctx, terminal.Description{Term: flags.EnvOr("TERM", "xterm-256color"), ColorTerm: os.Getenv("COLORTERM"),
		Columns: columns, Rows: rows, UTF8: command.UTF8Locale(), NoColor: os.Getenv("NO_COLOR") != ""})
	if err != nil {
		return err
	}
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		_ = conn.Close()
		return fmt.Errorf("take over the terminal: %w", err)
	}
	g.Terminal.Screen.Store(true)
	said, err := relay(ctx, conn)
	if said == "" {
		g.Terminal.Restore() // the session did not get to it
	}
	g.Terminal.Cook()
	g.Terminal.Screen.Store(false)
	if said == "" && err == nil {
		said = "Detached from session " + session.Session.Name + ", which keeps running."
	}
	if said != "" {
		fmt.Fprintln(g.Stdout, said)
	}
	return err
}

// relay sends the terminal's input and sizes to the session and shows the session's output, until either side ends the
// connection. It returns the session's last message.
func relay(ctx context.Context, conn *terminal.Conn) (said string, err error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	in, err := command.OpenInput(os.Stdin)
	if err != nil {
		return "", errors.Join(err, conn.Close())
	}
	var answered atomic.Int64
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		sendInput(in, conn, &answered, leave)
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		sendSizes(ctx, conn)
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	said, err = show(ctx, conn, &answered)
	leave()
	stop()
	_ = conn.Close()
	_ = in.Close()
	<-done
	<-done
	return said, err
}

// show writes the session's output to the terminal, until its last message.
func show(ctx context.Context, conn *terminal.Conn, answered *atomic.Int64) (string, error) {
	for {
		f, err := conn.Next()
		answered.Store(time.Now().UnixNano())
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
func sendInput(in io.Reader, conn *terminal.Conn, answered *atomic.Int64, leave func()) {
	b := make([]byte, 1024)
	var asked time.Time
	for {
		n, err := in.Read(b)
		if err != nil {
			leave()
			return
		}
		for _, key := range interrupts {
			if !bytes.Contains(b[:n], key) {
				continue
			}
			if !asked.IsZero() && time.Since(asked) > unanswered && answered.Load() < asked.UnixNano() {
				leave()
				return
			}
			if asked.IsZero() || answered.Load() > asked.UnixNano() {
				asked = time.Now()
			}
		}
		if conn.Send(terminal.Text, b[:n]) != nil {
			return // the reader of the output reports why
		}
	}
}
