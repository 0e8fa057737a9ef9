//go:build linux

package agent

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// beatEvery is the interval at which the client is notified that an operation is still running, and maxBeats bounds the
	// notices: an operation that takes longer hangs, on a file system that does not answer.
	beatEvery = 2 * time.Second
	maxBeats  = 150
)

// beating runs an operation that may take long, and notifies the client meanwhile: no other message is read before the
// operation is over.
func (s *server) beating(do func()) {
	var mu sync.Mutex
	beats, over := 0, false
	var timer *time.Timer
	mu.Lock()
	timer = time.AfterFunc(beatEvery, func() {
		mu.Lock()
		defer mu.Unlock()
		if beats++; over || beats > maxBeats {
			return
		}
		s.out.send(&protocol.Pong{})
		timer.Reset(beatEvery)
	})
	mu.Unlock()
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}()
	do()
}
