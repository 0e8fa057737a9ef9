package liveupdate

import (
	"io"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// QuietAfter is the silence after which the user is told that nothing comes from a container that has something to do.
const QuietAfter = 3 * time.Second

// Attended carries out a step that waits for a container. It names a step that is silent for a while, once: neither Kubernetes nor an
// engine shows whether a command works or its container stands still.
func Attended(step string, log logstore.Logger, do func() error) error {
	return attended(step, log, func(*hearing) error { return do() })
}

// attended is Attended for a step whose signs of life are visible: its output, which goes to the hearing, and its progress through its
// input.
func attended(step string, log logstore.Logger, do func(*hearing) error) error {
	h := &hearing{Logger: log, step: step, began: time.Now()}
	h.timer = time.AfterFunc(QuietAfter, h.tell)
	defer h.over()
	return do(h)
}

// hearing is a log that notes when something is written. A nil one hears nothing.
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
	h.sign()
	h.Logger.Write(level, text)
}

// sign notes a sign of life.
func (h *hearing) sign() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.told && !h.ended {
		h.timer.Reset(QuietAfter)
	}
}

// through returns an input whose progress is a sign of life, however slowly a large file travels.
func (h *hearing) through(in io.Reader) io.Reader {
	if h == nil || in == nil {
		return in
	}
	return heardInput{in, h}
}

// heardInput is the input of a step.
type heardInput struct {
	io.Reader
	h *hearing
}

// Read implements io.Reader.
func (r heardInput) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.h.sign()
	return n, err
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
