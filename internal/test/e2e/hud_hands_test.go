package e2e

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestHUDHands uses mouse and paste in a terminal: it folds a group and drags the border with the mouse, pastes into prompts and
// elsewhere, and drags the corner of the window back and forth while a program logs.
func TestHUDHands(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_resource('web'", `local_resource('ticker', serve_cmd='while sleep 0.05; do echo tick; done', labels=['side'])
local_resource('migrate', 'echo the schema is new', labels=['side'])
k8s_resource('web'`)
	term := p.terminal(120, 34)
	p.hud(term)
	term.shows(`✔ web +ok  image .*running 1/1 +\d+ ✔`)
	term.shows(`✔ migrate +ok  local`)
	term.shows(`ticker │ tick`)

	// A click folds a group, another one unfolds it.
	click := func(text string) {
		x, y := term.at(text)
		term.mouse(leftButton, x+2, y)
		term.releases(x+2, y)
	}
	click("▾ side")
	term.hides("✔ migrate")
	click("▸ side")
	term.shows(`✔ migrate`)

	// The border follows the mouse. The rows below it are hidden, and the screen says so.
	x, y := term.at("─ all resources ─")
	term.mouse(leftButton, x+60, y)
	term.mouse(leftMoves, x+60, y-4)
	term.releases(x+60, y-4)
	k8stest.Eventually(t, "the border to follow", func() error {
		if _, now := term.at("─ all resources ─"); now != y-4 {
			return fmt.Errorf("it is at line %d, want %d", now, y-4)
		}
		return nil
	})
	term.mouse(leftButton, x+60, y-4)
	term.mouse(leftMoves, x+60, y)
	term.releases(x+60, y)
	term.shows(`✔ migrate`)

	// A pasted text goes into a prompt, on one line, and its letters never act as keys.
	term.pastes("dtq\nZ")
	term.keys("/")
	term.shows(`^ filter:`)
	term.pastes("mig\nrate")
	term.shows(`^ filter: mig rate`)
	term.keys("Escape")
	screen := term.shows(`✔ migrate`)
	if strings.Contains(screen, "paused") || strings.Contains(screen, "disabled") || strings.Contains(screen, "1 more") {
		t.Errorf("a pasted text acts:\n%s", screen)
	}

	// Resize to random sizes, from far too small to huge. After each, no part of the previous size is left.
	const seed = 15
	random := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // repeatable sizes
	for range 40 {
		width, height := 20+random.IntN(200), 5+random.IntN(60)
		term.resize(width, height)
		if random.IntN(2) == 0 {
			continue // the next one comes before this one is drawn
		}
		term.fits(width, height)
	}
	term.resize(120, 34)
	term.fits(120, 34)
	term.shows(`✔ web .*running 1/1 +\d+ ✔`)
	term.shows(`ticker │ tick`)
	term.quits()
}

// fits waits until the content of the screen was drawn for its size.
func (term *terminal) fits(width, height int) {
	term.t.Helper()
	k8stest.Closely(term.t, fmt.Sprintf("the screen of %d by %d", width, height), func() error {
		screen := term.screen()
		lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
		if width < 60 || height < 10 { // only the log, and a line that says so
			if !strings.Contains(screen, "tick") {
				return fmt.Errorf("no log:\n%s", screen)
			}
			return nil
		}
		rule := ""
		if height >= 20 { // below, there is room for either the table or the log
			rule = fmt.Sprintf("─{%d}\n", width)
		}
		whole := regexp.MustCompile(`\A hone .*\n`+rule).MatchString(screen) &&
			strings.HasPrefix(lines[len(lines)-1], " Enter details") && len(lines) == height
		if titles := regexp.MustCompile(`(?m)^ +NAME `).FindAllString(screen, -1); !whole || len(titles) > 1 {
			return fmt.Errorf("it shows\n%s", screen)
		}
		return nil
	})
}
