package screen

import (
	"fmt"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
)

func (d *driver) write(resource, text string) {
	d.logs.Append(logstore.Entry{Resource: resourceName(resource), Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: text})
}

// TestFindSeesThroughColours: it finds text as it is seen, not as it is stored.
func TestFindSeesThroughColours(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.write("api", "one \x1b[31mcon\x1b[1mnect\x1b[0mion refused")
		d.after(time.Second)
		d.press("fconnection<Enter>")
		d.after(time.Second)
		d.shows("find: connection 1 of 1")
		for i, style := range d.styles("connection refused") {
			if _, _, attrs := style.Decompose(); (attrs&tcell.AttrReverse != 0) != (i < len("connection")) {
				t.Errorf("column %d of the match: %v", i, style)
			}
		}
		d.press("<Esc>f[31m<Enter>")
		d.after(time.Second)
		d.shows(`"[31m" is not in this log`)
	})
}

// TestFindBeginsWhereTheUserIs, not at the newest line.
func TestFindBeginsWhereTheUserIs(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for i := range 2000 {
			d.write("api", fmt.Sprintf("line %04d %s", i, map[bool]string{true: "needle"}[i%100 == 0]))
		}
		d.after(time.Second)
		d.press("<Tab>/\"line 09\"<Enter>")
		d.after(time.Second)
		d.press("gfneedle<Enter>")
		d.after(time.Second)
		d.shows("needle 1 of 1", "line 0900 needle")
		d.press("<Esc>")
		d.press("<Esc>") // the end of the filter; the place stays
		d.after(time.Second)
		d.press("fneedle<Enter>")
		d.after(time.Second)
		d.shows("needle 11 of 20", "line 1000 needle")
		d.press("n")
		d.after(time.Second)
		d.shows("needle 12 of 20", "line 1100 needle")
		d.press("NNN")
		d.after(time.Second)
		d.shows("needle 9 of 20", "line 0800 needle")
		d.press("<End>fneedle<Enter>")
		d.after(time.Second)
		d.shows("needle 20 of 20", "line 1900 needle")
	})
}

// TestFindGoesRoundAtFirstOnly: a new search also looks before the user's position; n and N stop at the ends.
func TestFindGoesRoundAtFirstOnly(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for i := range 500 {
			d.write("api", fmt.Sprintf("line %04d %s", i, map[bool]string{true: "needle"}[i == 7]))
		}
		d.after(time.Second)
		d.press("<Tab>" + "kkkk" + "fneedle<Enter>")
		d.after(time.Second)
		d.shows("needle 1 of 1", "line 0007 needle")
		d.press("n")
		d.shows(`"needle": this is the last match`)
		d.press("N")
		d.shows(`"needle": this is the first match`)
	})
}

func TestFindByExpression(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("f/SMTP.*host$/<Enter>")
		d.after(time.Second)
		d.shows("/SMTP.*host$/ 1 of 1")
		d.press("f/(/<Enter>")
		d.shows("missing closing )")
	})
}

// TestMatchNearTheEnd: the pane stays full, so that the lines before the match are seen as well.
func TestMatchNearTheEnd(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.manyLines("api", 1, 300)
		d.write("api", "needle")
		d.after(time.Second)
		d.press("fneedle<Enter>")
		d.after(time.Second)
		d.shows("needle 1 of 1", "line 0300", "line 0288")
	})
}

// TestFindWhileTyping: each letter goes to the nearest match, Esc goes back to the position before the search, and a missing
// match is no news until Enter.
func TestFindWhileTyping(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for i := range 200 {
			d.write("api", fmt.Sprintf("line %04d", i))
		}
		d.write("api", "needle")
		for i := range 200 {
			d.write("api", fmt.Sprintf("later %04d", i))
		}
		d.after(time.Second)
		d.press("fneed")
		d.after(time.Second)
		d.shows("needle", "line 0199", "find: need 1 of 1")
		d.press("x")
		d.after(time.Second)
		d.shows("later 0199")
		d.hides("is not in this log")
		d.press("<Esc>")
		d.shows("follow ●", "later 0199")
		d.hides("find:")
		d.press("fneedx<Enter>")
		d.after(time.Second)
		d.shows(`"needx" is not in this log`)
	})
}
