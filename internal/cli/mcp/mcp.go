// Package mcp serves the Model Context Protocol, so that a coding agent can ask a running session how it is, and let it act. Each tool asks
// the session's API through the same function as the command for people, and never the session's loop.
//
// Every call ends in time and its answer has a bound: perform is the one place that sees to both, and to the marks of foreign text.
//
// # Concurrency
//
// The library calls tools on goroutines of its own, and waits for them before Serve returns. A Server owns the goroutine that starts a
// session; Serve ends it and waits for it.
package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/text"
)

// Commands returns the commands of the package.
func Commands(g *command.Global) []*cobra.Command { return []*cobra.Command{newMCP(g)} }

func newMCP(g *command.Global) *cobra.Command {
	var f flags.Session
	var start, allowExec, readOnly bool
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the running session to coding agents, by the Model Context Protocol",
		Long: `Speaks the Model Context Protocol on standard input and output; a coding agent starts it. Its tools ask the session that works on
this folder, or on the closest folder above it with one: status, settle, why, logs, diff, describe and preview change nothing; trigger,
test, restart, enable, button and deploy let it act; snapshot saves its state to a file. Each call ends within a minute, and its answer
has at most about 2,000 tokens, with a cursor for the rest.

Text that programs wrote has no escape sequences, and is marked as data. Secrets that the session knows are removed.

With --start, the first call starts a session if there is none: hone up --detach, on a free port unless TILT_PORT names one. With --allow-exec, there is also a tool that runs
commands in containers. With --read-only, there are only the tools that change nothing. The session's own port serves the same tools at
/mcp, without starting sessions or running commands.

The tools have a token of their own, with no more rights than they need; in events and logs, it is called mcp-… If HONE_TOKEN is set, they
have the rights of that token.`,
		Example: "  hone mcp\n  hone mcp --start\n  hone mcp --session shop\n  hone mcp --read-only",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := command.OpenInput(cmd.InOrStdin())
			if err != nil {
				return err
			}
			rights := newGrant(readOnly)
			defer rights.end()
			o := Options{Version: command.Version, ReadOnly: readOnly, Exec: allowExec, Run: runSelf, Snapshots: snapshotsDir(),
				Find: func(ctx context.Context) (*client.Client, error) {
					c, err := find(ctx, &f, start)
					if err != nil || os.Getenv(flags.TokenVariable) != "" {
						return c, err
					}
					return rights.limit(ctx, c)
				}}
			if start {
				o.Start = startSession
			}
			return NewServer(o).Serve(cmd.Context(), in, text.Beneath(g.Stdout))
		},
	}
	f.Add(c)
	c.AddCommand(newInstall(g), newUninstall(g))
	c.Flags().BoolVar(&start, "start", false, "start a session for this folder if there is none: hone up --detach")
	c.Flags().BoolVar(&readOnly, "read-only", false, "have only tools that change nothing, and a token that cannot")
	c.Flags().BoolVar(&allowExec, "allow-exec", false, "add a tool that runs commands in containers")
	c.MarkFlagsMutuallyExclusive("read-only", "allow-exec")
	return c
}

// maxRequest is the longest request that is read. The tools take short arguments.
const maxRequest = 1 << 20

// Serve answers requests that are read from in, until it ends or ctx is done.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.work.Wait()
	defer cancel()
	s.serving = ctx
	err := s.mcp.Run(ctx, &mcp.IOTransport{Reader: in, Writer: unclosed{out}, MaxLineLength: maxRequest})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("serve the Model Context Protocol: %w", err)
	}
	return nil
}

// unclosed is standard output, which stays open.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

// find finds the session that the flags choose or, without a choice, the one that works on this folder. The only session that runs is not
// taken if it works on another folder: an agent in a second checkout would be told about the wrong files.
func find(ctx context.Context, f *flags.Session, start bool) (*client.Client, error) {
	c, err := f.Find(ctx)
	if err != nil || f.Chosen() || ofFolder(c.Session) {
		return c, err
	}
	mend := "start one with hone up --detach, or let hone mcp --start do it"
	if start {
		mend = "start one with hone up --detach"
	}
	return nil, problem.New("no session works on this folder; "+c.Where()+" works on "+c.Session.Tiltfile, mend+"; for that one: hone mcp --session "+c.Session.Name)
}

// ofFolder reports whether a session's Tiltfile is in the working folder or above it.
func ofFolder(s sessions.Info) bool {
	here, err := os.Getwd()
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(filepath.Dir(sessions.Real(s.Tiltfile)), sessions.Real(here))
	return err == nil && filepath.IsLocal(rel)
}

// startSession starts a session for this folder in the background. The port of its page is a free one if the user has chosen none: the usual
// port may belong to the session of another folder.
func startSession(ctx context.Context) error {
	args := []string{"up", "--detach"}
	if os.Getenv("TILT_PORT") == "" {
		args = append(args, "--port=0")
	}
	said, code, err := runSelf(ctx, args...)
	switch {
	case err != nil:
		return err
	case code != 0:
		return errors.New(strings.TrimSpace(said))
	}
	return nil
}

const (
	// maxOutput bounds the output of a command that is kept; the rest is dropped.
	maxOutput = 64 << 10
	// endLimit is the time that a command has to end after it was asked to.
	endLimit = callLimit / 20
)

// runSelf runs another hone, with empty input. Its output and its errors come together.
func runSelf(ctx context.Context, args ...string) (said string, code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", 0, fmt.Errorf("find hone: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	var out bounded
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endLimit
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", 0, fmt.Errorf("hone %s: %w", args[0], ctx.Err())
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode(), nil
	case err != nil:
		return "", 0, fmt.Errorf("run hone %s: %w", args[0], err)
	}
	return out.String(), 0, nil
}

// bounded keeps the beginning of the text that is written to it. It is for one goroutine, which os/exec uses for both outputs.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), maxOutput-b.Len())])
	return len(p), nil
}
