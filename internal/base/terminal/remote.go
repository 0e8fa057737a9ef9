package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// helloTime bounds the time that a client may take to send the description of its terminal.
const helloTime = 5 * time.Second

// Remote is the session's side of a client's terminal: writes appear on the terminal, reads return the user's input.
type Remote struct {
	*Conn
	Description Description

	rest []byte // of the last text frame; used by the reader only

	mu            sync.Mutex
	columns, rows int
	resized       func()
	jobs          func(back bool)
	lent          bool   // one of the user's programs has the terminal
	newest        uint32 // the number of the newest request
	running       map[uint32]*backgroundRequest
}

// Accept waits for the description of a client's terminal.
func Accept(conn net.Conn) (*Remote, error) {
	c := NewConn(conn)
	_ = conn.SetReadDeadline(time.Now().Add(helloTime))
	f, err := c.Next()
	if err != nil {
		return nil, fmt.Errorf("wait for the terminal: %w", err)
	}
	if f.Kind != Hello {
		return nil, fmt.Errorf("wait for the terminal: a frame of kind %q came first", f.Kind)
	}
	_ = conn.SetReadDeadline(time.Time{})
	d, err := describe(f.Content)
	return &Remote{Conn: c, Description: d, columns: d.Columns, rows: d.Rows}, err
}

var _ io.ReadWriter = (*Remote)(nil)

// Read waits for input. It also processes changes of the size.
func (f *Remote) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		frame, err := f.Next()
		if err != nil {
			return 0, err
		}
		switch frame.Kind {
		case Text:
			f.rest = frame.Content
		case Size:
			f.resize(frame.size())
		case Output, Ended:
			f.answered(frame)
		case Rest:
			f.job(len(frame.Content) > 0)
		case Hello, Open, Edit, Page, Shell, Command, Done, End: // a client has no reason to send these here
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Write shows text. It blocks while the client does not read. Callers must be able to wait, and should then draw the
// newest state. While one of the user's programs has the terminal, the text is dropped.
func (f *Remote) Write(p []byte) (int, error) {
	f.mu.Lock()
	lent := f.lent
	f.mu.Unlock()
	if lent {
		return len(p), nil
	}
	if err := f.Send(Text, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Edit opens a file in the user's editor, at a line unless that is 0, and waits until the editor has ended. The terminal must
// not show anything, and nothing else may read from it. If ctx ends first, the program keeps the terminal.
func (f *Remote) Edit(ctx context.Context, path string, line int) error {
	return f.lend(ctx, func() error { return f.SendEdit(path, line) })
}

// Page shows a file in the user's pager. Otherwise it is like Edit.
func (f *Remote) Page(ctx context.Context, path string) error {
	return f.lend(ctx, func() error { return f.SendPage(path) })
}

// Suspend gives the terminal back to the user's shell, and waits until the user returns. Otherwise it is like Edit.
func (f *Remote) Suspend(ctx context.Context) error {
	return f.lend(ctx, func() error { return f.Send(Rest, nil) })
}

// Shell runs a shell where a resource runs. Otherwise it is like Edit.
func (f *Remote) Shell(ctx context.Context, resource, pod, container string) error {
	return f.lend(ctx, func() error { return f.SendShell(resource, pod, container) })
}

// lend sends a request for a program and waits for its end.
func (f *Remote) lend(ctx context.Context, request func() error) error {
	f.Resume()
	defer f.Pause()
	defer context.AfterFunc(ctx, f.Pause)()
	if err := request(); err != nil {
		return fmt.Errorf("ask the terminal for a program: %w", err)
	}
	f.setLent(true)
	f.rest = nil // input from before was not meant for the program
	for {
		frame, err := f.Next()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("wait for a program in the terminal: %w", err)
		case frame.Kind == Size:
			f.resize(frame.size())
		case frame.Kind == Output || frame.Kind == Ended:
			f.answered(frame)
		case frame.Kind == Done:
			f.setLent(false)
			if len(frame.Content) > 0 {
				return errors.New(string(frame.Content))
			}
			return nil
		}
	}
}

func (f *Remote) setLent(lent bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lent = lent
}

// Size returns the size of the terminal.
func (f *Remote) Size() (columns, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.columns, f.rows
}

// OnResize sets the function that is called when the size has changed; nil removes it. The function must return
// immediately.
func (f *Remote) OnResize(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resized = do
}

// OnJob sets the function that is called when the client is asked to suspend itself or, if back is set, when its terminal must be
// drawn again from the beginning; nil removes it. The function must return immediately.
func (f *Remote) OnJob(do func(back bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.jobs = do
}

func (f *Remote) job(back bool) {
	f.mu.Lock()
	do := f.jobs
	f.mu.Unlock()
	if do != nil {
		do(back)
	}
}

func (f *Remote) resize(columns, rows int) {
	f.mu.Lock()
	f.columns, f.rows = max(1, min(columns, maxSide)), max(1, min(rows, maxSide))
	do := f.resized
	f.mu.Unlock()
	if do != nil {
		do()
	}
}
