//go:build linux

package agent

import (
	"bufio"
	"os"
	"sync"

	"github.com/hone-dev/hone/internal/synclet/protocol"
)

// link is a connection to the supervisor of this container. It speaks the same frames.
type link struct {
	conn *os.File
	mu   sync.Mutex
	w    *protocol.Writer
}

// dialSupervisor returns nil where the container's process has no supervisor.
func dialSupervisor() *link {
	conn, err := dialSocket()
	if err != nil {
		return nil
	}
	return &link{conn: conn, w: protocol.NewWriter(conn)}
}

func (l *link) send(m protocol.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w.Append(m)
	return l.w.Flush() == nil
}

// relay passes on what the supervisor says until one of the two ends.
func (l *link) relay(out *replies) {
	r := protocol.NewReader(bufio.NewReader(l.conn))
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		switch m.(type) {
		case *protocol.Restarted, *protocol.Process:
			out.send(m)
		}
	}
}

func (l *link) close() { _ = l.conn.Close() }
