package hud

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
)

// TestPast shows the shop as it was: rows, details and logs are there, no key acts on the session, and q leaves the screen.
func TestPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs, err := logstore.New(logstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer logs.Close()
		hudtest.ShopLogs(logs)
		s := &session{t: t, term: tcell.NewSimulationScreen("UTF-8")}
		p := Past{View: hudtest.Shop().View(t.Context()), At: hudtest.ShopTime, Logs: logs, By: "0.9.0", Version: "1.2.3", Screen: s.term}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- p.Show(ctx) }()
		synctest.Wait()
		s.shows("a session as it was on ")
		s.shows("run by hone v0.9.0")
		s.shows("waits for worker to be ready")
		s.shows("picked job 8812")
		s.press(tcell.KeyRune, 't')
		if strings.Contains(s.text(), "will be updated") || strings.Contains(s.text(), "t trigger") {
			t.Errorf("a key acts on the past session:\n%s", s.text())
		}
		s.press(tcell.KeyEscape, 0)
		s.shows("q or Ctrl-C leaves")
		time.Sleep(time.Minute) // in a bubble: no real time passes
		synctest.Wait()
		if strings.Contains(s.text(), "q or Ctrl-C leaves") {
			t.Errorf("a message outlives its time:\n%s", s.text())
		}
		s.press(tcell.KeyRune, 'q')
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestPastAsText prints the shop without a screen.
func TestPastAsText(t *testing.T) {
	p := Past{View: hudtest.Shop().View(t.Context()), At: hudtest.ShopTime, By: "0.9.0"}
	got := p.Shown().Text()
	for _, want := range []string{"a session as it was on ", "NAME ", "api ", "8080", "mailer ", "CrashLoopBackOff", "    pod mailer-7c9d-x2v1: container main: CrashLoopBackOff", "waits for worker to be ready"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
