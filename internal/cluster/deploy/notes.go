package deploy

import (
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// notes collects warnings.
type notes struct {
	mu    sync.Mutex
	lines []string
}

var _ logstore.Logger = (*notes)(nil)

// Write implements logstore.Logger.
func (n *notes) Write(level logstore.Level, text string) {
	if level < logstore.LevelWarn {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, strings.TrimSpace(text))
}

// Progress implements logstore.Logger.
func (n *notes) Progress(string, string, bool) {}

func (n *notes) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.lines, "; ")
}
