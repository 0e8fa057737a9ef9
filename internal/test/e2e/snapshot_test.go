package e2e

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// TestSnapshot saves a session on a cluster, while it runs and when it has ended, and shows both in a terminal: pods and
// ports are still shown when they no longer exist.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up("--output-snapshot-on-exit", "end.json")
	s.ready("web")
	p.write("site/index.html", "two")
	s.becomes("web", "updated in place", func(r api.Resource) bool {
		return r.CurrentBuild == nil && len(r.BuildHistory) > 0 && r.BuildHistory[0].Mode == "synclet"
	})
	p.says(0, []string{"snapshot", "create", "now.json"})
	if code := s.stop(); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
		t.Errorf("down: code %d\n%s", code, out)
	}
	for _, file := range []string{"now.json", "end.json"} {
		p.says(0, []string{"snapshot", "view", file}, " web ", "in place", "running 1/1", "→ web of web-")
		term := p.terminal(120, 34)
		term.keys(binary+" snapshot view "+file, "Enter")
		term.shows(`a session as it was on \d{4}-`)
		screen := term.shows(`✔ web +in place .*index.html +running 1/1 +\d+ ✔`)
		if strings.Contains(screen, "t trigger") {
			t.Errorf("an update can be asked for:\n%s", screen)
		}
		term.keys("t")
		term.keys("j")
		term.keys("Enter")
		term.shows(`\[1 updates\]`)
		term.keys("q")
		term.shows(`NAME +UPDATE`)
		term.keys("q")
		term.shows(`^prompt>\s*$`)
		term.whole()
	}
}
