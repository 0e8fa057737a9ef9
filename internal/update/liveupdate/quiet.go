package liveupdate

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// QuietAfter is the silence after which the user is told that nothing comes from a container that has something to do.
const QuietAfter = 3 * time.Second

// attended carries out a step of an update, with the log for its output. It names a step that is silent for a while, once: neither
// Kubernetes nor an engine shows whether a command works or its container stands still.
func attended(step string, log logstore.Logger, do func(logstore.Logger) error) error {
	h := &hearing{Logger: log, step: step, began: time.Now()}
	h.timer = time.AfterFunc(QuietAfter, h.tell)
	defer h.over()
	return do(h)
}

// hearing is a log that notes when something is written.
type hearing struct {
	logstore.Logger
	step  string
	began time.Time
	timer *time.Timer

	mu          sync.Mutex
	told, ended bool // guarded by mu
}

// Write implements logstore.Logger.
func (h *hearing) Write(level logstore.Level, text string) {
	h.mu.Lock()
	if !h.told && !h.ended {
		h.timer.Reset(QuietAfter)
	}
	h.mu.Unlock()
	h.Logger.Write(level, text)
}

func (h *hearing) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told || h.ended {
		return
	}
	h.told = true
	logstore.Infof(h.Logger, "Nothing has come from this step for %s: %s. It works silently, or its container stands still", QuietAfter, h.step)
}

func (h *hearing) over() {
	h.timer.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.told {
		logstore.Infof(h.Logger, "The step has ended after %s: %s", time.Since(h.began).Round(time.Second), h.step)
	}
}
