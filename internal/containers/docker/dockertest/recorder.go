package dockertest

import (
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Recorder is a Logger that keeps everything.
type Recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements logstore.Logger.
func (r *Recorder) Write(_ logstore.Level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.WriteString(text)
}

// Progress implements logstore.Logger.
func (r *Recorder) Progress(_, text string, done bool) {
	if done {
		r.Write(logstore.LevelInfo, text+"\n")
	}
}

// String returns the text.
func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
