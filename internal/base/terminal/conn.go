package terminal

import (
	"encoding/binary"
	"errors"
	"math"
	"net"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
)

// farewell bounds the time that the other side may take to read the remaining data at the end.
const farewell = 2 * time.Second

// maxFailure bounds the description of a failure in bytes.
const maxFailure = 4 << 10

// Conn is a connection that carries frames.
type Conn struct {
	conn net.Conn
	read reader

	mu     sync.Mutex // guards writing
	buffer []byte

	ends     sync.Mutex // guards the deadlines
	finished bool
}

// NewConn returns a Conn over a connection, and takes ownership of the connection.
func NewConn(c net.Conn) *Conn { return &Conn{conn: c, read: reader{in: c}} }

// SendHello sends the description of the client's terminal. An error may be a problem of the user's settings.
func (c *Conn) SendHello(d Description) error {
	hello := d.encode()
	if len(d.Settings) > longestSettings || len(hello) > maxContent {
		return problem.New("the settings of the screen are too long to attach with: "+words.Size(int64(len(d.Settings))),
			"shorten screen.yaml; a long command can be a script that the file names")
	}
	return c.Send(Hello, hello)
}

// Next waits for the next frame, which is valid until the next call. At the end of the connection it returns io.EOF.
func (c *Conn) Next() (Frame, error) { return c.read.next() }

// Send sends content of a kind, in as many frames as necessary. It blocks while the other side does not read.
func (c *Conn) Send(k Kind, content []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for first := true; first || len(content) > 0; first = false {
		n := min(len(content), maxContent)
		c.buffer = appendFrame(c.buffer[:0], k, content[:n])
		if _, err := c.conn.Write(c.buffer); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

// SendSize sends the size of the terminal.
func (c *Conn) SendSize(columns, rows int) error {
	b := binary.BigEndian.AppendUint16(nil, clamp(columns))
	return c.Send(Size, binary.BigEndian.AppendUint16(b, clamp(rows)))
}

// SendEdit asks the client to open a file in the user's editor, at a line unless that is 0. SendPage asks it to show a file in
// the user's pager. The client answers with SendDone.
func (c *Conn) SendEdit(path string, line int) error {
	return c.sendPlace(Edit, append(binary.BigEndian.AppendUint32(nil, uint32(max(0, min(line, math.MaxInt32)))), path...))
}

// SendPage is described at SendEdit.
func (c *Conn) SendPage(path string) error { return c.sendPlace(Page, []byte(path)) }

// SendShell asks the client to run a shell where a resource runs: in a container of a pod, or, if both are empty, where hone shell
// runs it. The client answers with SendDone.
func (c *Conn) SendShell(resource, pod, container string) error {
	return c.sendPlace(Shell, []byte(resource+"\x00"+pod+"\x00"+container))
}

func (c *Conn) sendPlace(k Kind, content []byte) error {
	if len(content) > maxContent {
		return errors.New("the name is too long")
	}
	return c.Send(k, content)
}

// SendRest tells the session that this process was asked to suspend itself or, if back is set, that it continues after a stop.
func (c *Conn) SendRest(back bool) error {
	var content []byte
	if back {
		content = []byte("back")
	}
	return c.Send(Rest, content)
}

// SendDone reports that the user's program has ended, with a description of the failure, if any.
func (c *Conn) SendDone(failure string) error {
	return c.Send(Done, []byte(words.Clip(failure, maxFailure)))
}

// Finish makes all current and later calls of Next return, and bounds the time that Send may block.
func (c *Conn) Finish() {
	c.ends.Lock()
	defer c.ends.Unlock()
	c.finished = true
	_ = c.conn.SetReadDeadline(time.Unix(1, 0))
	_ = c.conn.SetWriteDeadline(time.Now().Add(farewell))
}

// Pause makes all current and later calls of Next return os.ErrDeadlineExceeded until Resume. No frame is lost.
func (c *Conn) Pause() { c.deadline(time.Unix(1, 0)) }

// Resume ends a Pause.
func (c *Conn) Resume() { c.deadline(time.Time{}) }

// deadline sets the deadline of Next, unless the connection is finished.
func (c *Conn) deadline(t time.Time) {
	c.ends.Lock()
	defer c.ends.Unlock()
	if !c.finished {
		_ = c.conn.SetReadDeadline(t)
	}
}

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }

func clamp(n int) uint16 { return uint16(max(0, min(n, maxContent))) }
