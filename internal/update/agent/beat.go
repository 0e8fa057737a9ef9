//go:build linux

package agent

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// beatEvery is how often the client hears that something is still being done, and maxBeats for how long: what takes
	// longer hangs, on a file system that does not answer.
	beatEvery = 2 * time.Second
	maxBeats  = 150
)

// beating does something that may take long, and tells the client meanwhile that it is being done: no other message is
// read before it is over.
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
