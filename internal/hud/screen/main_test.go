package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// besideAt returns the column at which the log begins; 0 if it stands below the table.
func (d *driver) besideAt() int {
	d.t.Helper()
	x, y := d.find("─ all resources")
	if _, top := d.find("NAME  "); y > top {
		return 0
	}
	return x
}

// TestLogBesideTheTable: in a wide terminal the log stands beside the table, where keys, the mouse and the remembered layout change
// its width.
func TestLogBesideTheTable(t *testing.T) {
	for _, tt := range []struct {
		width  int
		layout Layout
		at     int
	}{
		{219, Layout{}, 0},
		{220, Layout{}, 121},
		{300, Layout{}, 136},
		{300, Layout{Side: int(sideBelow)}, 0},
		{160, Layout{Side: int(sideBeside)}, 121},
		{90, Layout{Side: int(sideBeside)}, 0},
		{240, Layout{LogColumns: 60}, 181},
		{240, Layout{LogColumns: 1}, 201},
		{240, Layout{LogColumns: 999}, 61},
	} {
		playAt(t, newTerminal("UTF-8", tt.width, 50), shop(t), func(t *testing.T, d *driver) {
			if got := d.besideAt(); got != tt.at {
				t.Errorf("%d columns with %+v: the log begins at column %d, want %d:\n%s", tt.width, tt.layout, got, tt.at, d.text())
			}
		}, func(_ *driver, o *Options) { o.Layout = tt.layout })
	}
	var kept []Layout
	playAt(t, newTerminal("UTF-8", 240, 50), shop(t), func(t *testing.T, d *driver) {
		want := func(what string, at int) {
			t.Helper()
			if got := d.besideAt(); got != at {
				t.Errorf("%s: the log begins at column %d, want %d", what, got, at)
			}
		}
		want("at first", 121)
		d.press("<Tab>+")
		want("larger", 119)
		d.press("<Tab>+")
		want("a larger table", 121)
		d.mouse(120, 10, tcell.Button1)
		d.mouse(100, 12, tcell.Button1)
		d.mouse(100, 12, tcell.ButtonNone)
		want("dragged", 101)
		d.press("V")
		want("turned", 0)
		d.press("V")
		want("turned back", 101)
		d.press("x")
		d.hides("NAME  ")
		d.press("x")
		want("short", 161)
		d.press("x")
		want("half", 121)
		d.press("z")
		d.hides("─ all resources")
		d.press("z<Tab>z")
		d.hides("NAME  ")
		d.press("<Esc>")
		want("no longer zoomed", 121)
		d.press("<Esc>V")
		if got := kept[len(kept)-1]; got.Side != int(sideBelow) {
			t.Errorf("remembered: %+v", got)
		}
	}, func(_ *driver, o *Options) { o.KeepLayout = func(l Layout) { kept = append(kept, l) } })
}

// TestWideTerminals draws the shop where the log stands beside the table.
func TestWideTerminals(t *testing.T) {
	for _, size := range [][2]int{{220, 50}, {300, 100}} {
		playAt(t, newTerminal("UTF-8", size[0], size[1]), shop(t), func(t *testing.T, d *driver) {
			d.golden("views/beside-" + fmt.Sprintf("%dx%d", size[0], size[1]))
			d.press("<Tab>k")
			d.golden("views/beside-log-" + fmt.Sprintf("%dx%d", size[0], size[1]))
			d.press("<Esc>e")
			d.after(2 * frameTime)
			d.golden("views/beside-card-" + fmt.Sprintf("%dx%d", size[0], size[1]))
			if !strings.Contains(d.text(), "✖ mailer ─ crash loop") {
				t.Error("there is no card")
			}
		})
	}
}
