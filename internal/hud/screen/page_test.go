package screen

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
)

// TestFindInAPage works as in the log: with a count, back and forth, from the user's position; copying takes the whole page.
func TestFindInAPage(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("?n")
		d.shows("no search text")
		d.press("fMATCH<Enter>")
		d.shows("find: MATCH 1 of")
		first := d.text()
		if !d.reversed("match") {
			t.Error("the match is not marked")
		}
		d.press("nn")
		d.shows("find: MATCH 3 of")
		d.press("NNN")
		d.shows("find: MATCH 1 of", "this is the first match")
		d.press("fno such text<Enter>")
		d.shows("find: no such text, not here")
		d.press("n")
		d.shows("is not here")
		d.press("c")
		d.shows("copied ")
		if !strings.Contains(d.copied(), "next match in the page\n") {
			t.Errorf("copied %q from\n%s", d.copied(), first)
		}
	})
}

// TestFindInDetails finds folded text, too, goes to the line, and copies it; the search stays when the tab changes.
func TestFindInDetails(t *testing.T) {
	const hidden = "src/b.go" // one of many files of an update
	playAt(t, newTerminal("UTF-8", 120, 34), drawing{scene: hudtest.Story}.snapshot(t), func(t *testing.T, d *driver) {
		d.press("/worker<Enter><Enter>")
		d.hides(hidden)
		d.press("fSRC/B.GO<Enter>")
		d.shows("find: SRC/B.GO 1 of 1", hidden)
		if !d.reversed(hidden) {
			t.Error("the match is not marked")
		}
		d.press("fno such text<Esc>")
		d.shows("find: SRC/B.GO")
		d.press("<Right>")
		d.shows("find: SRC/B.GO, not here")
		d.press("n")
		d.shows("is not here")
		d.press("<Left>")
		d.press("C")
		if !strings.Contains(d.copied(), hidden) {
			t.Errorf("copied %q", d.copied())
		}
		d.press("c")
		if got := d.copied(); strings.Count(got, "\n") != 1 {
			t.Errorf("copied %q, want one line", got)
		}
	})
}

// TestFindInACard marks the text, counts, and copies the card.
func TestFindInACard(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.cards(manyRows(3, 1), view.Card{Resource: "service-001", Title: "the update failed", Cause: []string{"go build: exit 1"}, Output: "main.go:41:2: unused\nmain.go:43:2: unused\n"})
		d.press("efunused<Enter>")
		d.shows("find: unused 1 of 2")
		d.press("n")
		d.shows("find: unused 2 of 2")
		d.press("n")
		d.shows("this is the last match")
		d.press("C")
		for _, want := range []string{"service-001 ─ the update failed", "go build: exit 1", "main.go:43:2: unused"} {
			if !strings.Contains(d.copied(), want) {
				t.Errorf("copied %q, which lacks %q", d.copied(), want)
			}
		}
	})
}

// TestFooterLeavesOutWhatCannotBeDone: keys that do nothing for the resource are not named.
func TestFooterLeavesOutWhatCannotBeDone(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 240, 34), shop(t), func(t *testing.T, d *driver) {
		d.press("e")
		d.shows("R new pods", "p previous run")
		d.press("<Esc>/e2e<Enter>e")
		d.press("<Esc><Enter>") // details of a local resource
		d.shows("t trigger")
		d.hides("R new pods", "S shell")
	})
}
