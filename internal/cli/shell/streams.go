package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/cli/command"
)

// streams are the standard streams of the process, lent to a command elsewhere. If they are a terminal, the input goes to the
// command unchanged, interrupts included.
type streams struct {
	in       io.ReadCloser
	out, err io.Writer
	tty      bool
	// sizes are the sizes of the terminal.
	sizes <-chan terminal.Extent
	// close gives the streams back. A command that did not end by itself may have left the terminal in any state.
	close func(byItself bool)
}

// onTerminal reports whether input and output are a terminal.
func onTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// open lends the standard streams.
func (w *work) open(ctx context.Context) (*streams, error) {
	in, err := openInput()
	if err != nil {
		return nil, err
	}
	s := &streams{in: in, out: os.Stdout, err: os.Stderr, close: func(bool) { _ = in.Close() }}
	if !onTerminal() {
		return s, nil
	}
	raw := &rawInput{ReadCloser: in, guard: w.global.Terminal}
	sizes := make(chan terminal.Extent, 1)
	tell := func(columns, rows int) {
		select {
		case <-sizes: // it was not read yet, and now it is old
		default:
		}
		sizes <- terminal.Extent{Columns: columns, Rows: rows}
	}
	if columns, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		tell(columns, rows)
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { command.WatchSizes(ctx, tell) })
	s.in, s.tty, s.sizes = raw, true, sizes
	s.close = func(byItself bool) {
		cancel()
		raw.restore(byItself)
		_ = in.Close()
		watching.Wait()
	}
	return s, nil
}

// rawInput is the input from a terminal. The first Read makes the terminal raw: until something reads, interrupts are for hone.
type rawInput struct {
	io.ReadCloser
	guard *command.TerminalGuard

	mu       sync.Mutex
	raw, end bool // guarded by mu
}

var _ io.ReadCloser = (*rawInput)(nil)

// Read implements io.Reader.
func (r *rawInput) Read(p []byte) (int, error) {
	if err := r.begin(); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p)
}

func (r *rawInput) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.raw || r.end {
		return nil
	}
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	r.raw = true
	r.guard.Begin()
	return nil
}

// restore resets the terminal to its state before begin. If the program did not end by itself, restore also undoes the modes that
// programs set.
func (r *rawInput) restore(byItself bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = true
	if !r.raw {
		return
	}
	if !byItself {
		r.guard.RestoreBelow()
		_, _ = os.Stdout.WriteString("\n")
	}
	r.guard.Cook()
	r.guard.End()
}

// openInput returns standard input as an input whose Close ends a waiting Read.
func openInput() (io.ReadCloser, error) {
	in, err := command.OpenInput(os.Stdin)
	if err != nil || command.InputReopens {
		return in, err
	}
	// A Read that waits cannot be ended here. It is left behind, until the process ends.
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		_ = w.CloseWithError(err)
	}()
	return r, nil
}
