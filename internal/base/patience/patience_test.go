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

// TestShow checks which waits are shown, and when they are taken back.
func TestShow(t *testing.T) {
	const after = time.Second
	for name, tc := range map[string]struct {
		do   func(w *Waits)
		want string
	}{
		"the work as a whole": {func(*Waits) { time.Sleep(2 * after) }, ""},
		"a short part": {func(w *Waits) {
			over := w.Await("helm")
			time.Sleep(after / 2)
			over()
			time.Sleep(after)
		}, ""},
		"a part": {func(w *Waits) {
			over := w.Await("helm")
			time.Sleep(2 * after)
			over()
		}, "1s helm, 2s -"},
		"two parts": {func(w *Waits) {
			for _, part := range []string{"helm", "git"} {
				over := w.Await(part)
				time.Sleep(2 * after)
				over()
			}
		}, "1s helm, 2s -, 3s git, 4s -"},
		"a part of a part": {func(w *Waits) {
			over := w.Await("the repository")
			time.Sleep(2 * after)
			inner := w.Await("git")
			time.Sleep(2 * after)
			inner()
			time.Sleep(after)
			over()
		}, "1s the repository, 3s git, 4s the repository, 5s -"},
		"short parts of a part": {func(w *Waits) {
			defer w.Await("the repository")()
			for range 3 {
				over := w.Await("git")
				time.Sleep(after / 2)
				over()
			}
			time.Sleep(2 * after)
		}, "2.5s the repository, 3.5s -"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var shown []string
				w := New(func(string) {})
				w.Show(after, func(what string, since time.Time) {
					if what == "" {
						what = "-"
					} else if since.Before(begin) || since.After(time.Now().Add(-after)) {
						t.Errorf("%s: since %s", what, since.Sub(begin))
					}
					shown = append(shown, time.Since(begin).String()+" "+what)
				})
				over := w.Await("the work")
				tc.do(w)
				over()
				if got := strings.Join(shown, ", "); got != tc.want {
					t.Errorf("shown: %s; want: %s", got, tc.want)
				}
			})
		})
	}
}
