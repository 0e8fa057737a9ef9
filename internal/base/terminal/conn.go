package terminal

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// farewell is how long the other side may take to read the remaining data at the end.
const farewell = 2 * time.Second

// Conn is a connection that carries frames.
type Conn struct {
	conn net.Conn
	read reader

	mu     sync.Mutex // guards writing
	buffer []byte
}

// NewConn returns a Conn over a connection, and takes ownership of the connection.
func NewConn(c net.Conn) *Conn { return &Conn{conn: c, read: reader{in: c}} }

// SendHello sends the description of the client's terminal.
func (c *Conn) SendHello(d Description) error { return c.Send(Hello, d.encode()) }

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

// Finish makes all current and later calls of Next return, and bounds how long Send may block.
func (c *Conn) Finish() {
	_ = c.conn.SetReadDeadline(time.Unix(1, 0))
	_ = c.conn.SetWriteDeadline(time.Now().Add(farewell))
}

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }

func clamp(n int) uint16 { return uint16(max(0, min(n, maxContent))) }
