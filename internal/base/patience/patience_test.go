package patience

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// heard is a logger that keeps what it hears.
type heard struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

// Write implements logstore.Logger.
func (h *heard) Write(_ logstore.Level, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.WriteString(text)
}

// Progress implements logstore.Logger.
func (h *heard) Progress(_, text string, _ bool) { h.Write(logstore.LevelInfo, text) }

// String returns all that was heard.
func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestAwait checks when work says what it waits for.
func TestAwait(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(p *Waits, log logstore.Logger)
		want string
	}{
		"a short wait": {func(p *Waits, _ logstore.Logger) {
			over := p.Await("the cluster")
			time.Sleep(time.Second)
			over()
		}, ""},
		"a wait": {func(p *Waits, _ logstore.Logger) {
			over := p.Await("the cluster")
			time.Sleep(3 * time.Second)
			over()
			over()
		}, "Waiting for the cluster…\n"},
		"a long wait": {func(p *Waits, _ logstore.Logger) {
			over := p.Await("the cluster")
			time.Sleep(time.Minute)
			over()
		}, "Waiting for the cluster…\nWaiting for the cluster… (for 32s now)\n"},
		"a wait that says something itself": {func(p *Waits, log logstore.Logger) {
			over := p.Await("the Tiltfile")
			for range 4 {
				time.Sleep(1500 * time.Millisecond)
				logstore.Infof(log, "local: make")
			}
			over()
		}, "local: make\nlocal: make\nlocal: make\nlocal: make\n"},
		"a wait within a wait": {func(p *Waits, _ logstore.Logger) {
			over := p.Await("session shop to end")
			time.Sleep(time.Second)
			inner := p.Await("the cluster")
			time.Sleep(3 * time.Second)
			inner()
			time.Sleep(3 * time.Second)
			over()
		}, "Waiting for the cluster…\nWaiting for session shop to end…\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &heard{}
				waits := New(func(text string) { logstore.Infof(out, "%s", text) })
				tc.do(waits, waits.Logger(out))
				time.Sleep(time.Hour)
				if out.String() != tc.want {
					t.Errorf("%q, want %q", out.String(), tc.want)
				}
			})
		})
	}
}
