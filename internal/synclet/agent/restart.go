//go:build linux

package agent

import (
	"bufio"
	"time"

	"github.com/hone-dev/hone/internal/synclet/protocol"
)

// noSupervisor says why a restart is not possible.
const noSupervisor = "the container's process does not run under hone's supervisor"

// Restart asks the supervisor of this container for a new process, and returns once that has been started. The code is
// protocol.RestartDone, or says with the text why there is none.
func Restart(grace time.Duration) (code uint64, text string) {
	l := dialSupervisor()
	if l == nil {
		return protocol.RestartUnsupervised, noSupervisor
	}
	defer l.close()
	if !l.send(&protocol.Restart{ID: 1, GraceNanos: uint64(grace)}) {
		return protocol.RestartFailed, "the supervisor does not listen to this user"
	}
	r := protocol.NewReader(bufio.NewReader(l.conn))
	for {
		m, err := r.Next()
		if err != nil {
			return protocol.RestartFailed, "the supervisor does not answer: " + err.Error()
		}
		if m, ok := m.(*protocol.Restarted); ok {
			return m.Code, m.Text
		}
	}
}
