package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/hud/screen"
)

// TestGoodbye: the user learns whether the session still runs, and why the screen has ended.
func TestGoodbye(t *testing.T) {
	c := client.Over(sessions.Info{Name: "shop", Version: "0.1"})
	lost := errors.New("the session is gone")
	for name, tt := range map[string]struct {
		left         bool
		outcome, err error
		said, fails  string
	}{
		"left":                   {left: true, said: "Detached from session shop, which keeps running."},
		"the terminal is closed": {err: fmt.Errorf("%w: EOF", screen.ErrGone), said: "Detached from session shop, which keeps running."},
		"over":                   {outcome: errOver, said: "Session shop is over."},
		"lost":                   {outcome: lost, fails: "the session is gone"},
		"no terminal":            {err: errors.New("TERM=x"), fails: "TERM=x"},
		"a bug":                  {err: &bug.Report{What: "panic: nil", Where: "screen.draw:7"}, fails: "session shop keeps running"},
	} {
		said, err := goodbye(c, tt.left, tt.outcome, tt.err)
		if said != tt.said || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(problem.Text(err), tt.fails) {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
}

// TestForeignSession: an error of a session of another version names that version.
func TestForeignSession(t *testing.T) {
	refused := errors.New("unknown path /api/snapshot/follow")
	err := foreign(client.Over(sessions.Info{Name: "shop", Version: "0.0.1"}), refused)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "session shop runs hone v0.0.1") || !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if err := foreign(client.Over(sessions.Info{}), refused); !errors.Is(err, refused) || strings.Contains(err.Error(), "runs hone") {
		t.Errorf("%v", err)
	}
}
