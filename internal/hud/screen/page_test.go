package screen

import (
	"strings"
	"testing"
)

// TestFindInAPage works as in the log: with a count, forth and back, from where one is; copying takes the whole page.
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
