package terminal

import (
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// helloTime is how long a client may take to send the description of its terminal.
const helloTime = 5 * time.Second

// Far is the session's side of a client's terminal: writes appear on the terminal, reads return the user's input.
type Far struct {
	*Conn
	Description Description

	rest []byte // of the last text frame; used by the reader only

	mu            sync.Mutex
	columns, rows int
	resized       func()
}

// Accept waits for the description of a client's terminal.
func Accept(conn net.Conn) (*Far, error) {
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
	return &Far{Conn: c, Description: d, columns: d.Columns, rows: d.Rows}, err
}

var _ io.ReadWriter = (*Far)(nil)

// Read waits for input. It also processes changes of the size.
func (f *Far) Read(p []byte) (int, error) {
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
		case Hello, Open, End: // a client has no reason to send these here
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Write shows text. It blocks while the client does not read. Callers must be able to wait, and should then draw the
// newest state.
func (f *Far) Write(p []byte) (int, error) {
	if err := f.Send(Text, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Size returns the size of the terminal.
func (f *Far) Size() (columns, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.columns, f.rows
}

// OnResize sets the function that is called when the size has changed; nil removes it. The function must return
// immediately.
func (f *Far) OnResize(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resized = do
}

func (f *Far) resize(columns, rows int) {
	f.mu.Lock()
	f.columns, f.rows = max(1, min(columns, maxSide)), max(1, min(rows, maxSide))
	do := f.resized
	f.mu.Unlock()
	if do != nil {
		do()
	}
}
