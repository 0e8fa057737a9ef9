package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/editor"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/shell"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/settings"
)

// localTerminal is the user's end of an attached terminal. It belongs either to the session or, for a while, to one of the user's
// programs.
type localTerminal struct {
	conn  *terminal.Conn
	guard *command.TerminalGuard
	// session is the one that the terminal shows.
	session sessions.Info
	// settings have the commands of the user's own that the session may name.
	settings settings.Settings
	// leave ends the attachment.
	leave func()
	// answered is the time of the session's last message, in nanoseconds.
	answered atomic.Int64

	// job is held while the session has the terminal.
	job *process.Job

	// in is the input while the session has the terminal, and read is closed when its reader has ended.
	in   io.ReadCloser
	read chan struct{}

	// ended receives an error or nil when the terminal is back from a program; nil if no program was run.
	ended chan error

	mu   sync.Mutex
	lent bool // a program has the terminal

	// background are the commands that run without the terminal, and busy is their number.
	background sync.WaitGroup
	busy       atomic.Int32
}

// startInput begins to send the terminal's input.
func (n *localTerminal) startInput() error {
	in, err := command.OpenInput(os.Stdin)
	if err != nil {
		return err
	}
	n.in, n.read = in, make(chan struct{})
	go func() {
		defer close(n.read)
		n.sendInput(in)
	}()
	return nil
}

// stopInput leaves the terminal's input to another program.
func (n *localTerminal) stopInput() {
	if n.in != nil {
		_ = n.in.Close()
		<-n.read
		n.in = nil
	}
}

// sendSize sends a size, except while a program has the terminal.
func (n *localTerminal) sendSize(columns, rows int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.lent {
		_ = n.conn.SendSize(columns, rows)
	}
}

func (n *localTerminal) setLent(lent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lent = lent
}

// lend gives the terminal, which the session has restored, to a program, or to the user's shell. It does not wait for the
// program: ctx may end first, and the terminal is not taken back then. The program itself is never ended, since its user may not
// have saved yet.
func (n *localTerminal) lend(ctx context.Context, program func(ctx context.Context) error) error {
	if err := n.settle(); err != nil { // sessions ask for one program after the other
		return err
	}
	n.setLent(true)
	n.job.Free()
	n.stopInput()
	n.guard.End()
	n.guard.Cook()
	ended := make(chan error, 1)
	n.ended = ended
	go func() {
		failure := program(ctx)
		var err error
		if ctx.Err() == nil {
			if err = n.takeBack(failure); err != nil {
				n.leave()
			}
		}
		ended <- err
	}()
	return nil
}

// takeBack gives the terminal to the session again.
func (n *localTerminal) takeBack(failure error) error {
	n.guard.Begin()
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		n.guard.End()
		return fmt.Errorf("take the terminal over again: %w", err)
	}
	n.setLent(false)
	if columns, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		n.sendSize(columns, rows)
	}
	said := ""
	if failure != nil {
		said = problem.Text(failure)
	}
	n.job.Hold()
	_ = n.conn.SendDone(said) // the reader of the output reports why it cannot be sent
	return n.startInput()
}

// obey passes the requests of job control on to the session, until ctx is done.
func (n *localTerminal) obey(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.job.Rest():
			n.sendRest(false)
		case <-n.job.Back():
			if _, err := term.MakeRaw(int(os.Stdin.Fd())); err == nil { // else the end of the input ends the screen
				n.sendRest(true)
			}
		}
	}
}

func (n *localTerminal) sendRest(back bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.lent {
		_ = n.conn.SendRest(back)
	}
}

// settle waits until no program has the terminal.
func (n *localTerminal) settle() error {
	if n.ended == nil {
		return nil
	}
	err := <-n.ended
	n.ended = nil
	return err
}

// program returns a function that runs the program which a frame requests. A cancelled context does not end a running program.
func (n *localTerminal) program(f terminal.Frame) func(ctx context.Context) error {
	switch f.Kind {
	case terminal.Rest:
		return func(ctx context.Context) error { return process.Suspend(ctx, false) } // nothing in this process has to run on
	case terminal.Shell:
		resource, pod, container := f.Runs()
		return func(ctx context.Context) error {
			return shell.Child(context.WithoutCancel(ctx), n.session, resource, pod, container)
		}
	default:
	}
	kind := f.Kind
	path, line := f.Place()
	return func(ctx context.Context) error {
		if err := readable(path); err != nil {
			return err
		}
		if kind == terminal.Page {
			return editor.PagerFromEnvironment(os.Stdin, os.Stdout, os.Stderr).Show(context.WithoutCancel(ctx), path)
		}
		return editor.FromEnvironment(os.Stdin, os.Stdout, os.Stderr).Open(context.WithoutCancel(ctx), path, line)
	}
}

// readable checks that a path of the session's machine names a file that this user can read on this one.
func readable(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem.New(path+" is not on this machine", "attach on the machine that the session runs on")
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err == nil:
		var f *os.File
		if f, err = os.Open(path); err == nil {
			return f.Close()
		}
	}
	return problem.Wrap(err, "this user cannot read "+path, "attach as the user that runs the session")
}
