package screen

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"
)

// find returns the place of a text on the terminal.
func (d *driver) find(text string) (x, y int) {
	d.t.Helper()
	for y, l := range strings.Split(d.text(), "\n") {
		if before, _, ok := strings.Cut(l, text); ok {
			return runesWidth([]rune(before)), y
		}
	}
	d.t.Fatalf("the screen does not show %q:\n%s", text, d.text())
	return 0, 0
}

func (d *driver) mouse(x, y int, buttons tcell.ButtonMask) {
	d.term.InjectMouse(x, y, buttons, tcell.ModNone)
	synctest.Wait()
}

func (d *driver) click(text string) {
	d.t.Helper()
	x, y := d.find(text)
	d.mouse(x, y, tcell.Button1)
	d.mouse(x, y, tcell.ButtonNone)
	d.after(time.Second)
}

func (d *driver) drag(from, to string) {
	d.t.Helper()
	x, y := d.find(from)
	toX, toY := d.find(to)
	d.mouse(x, y, tcell.Button1)
	for y != toY {
		if y < toY {
			y++
		} else {
			y--
		}
		d.mouse(toX, y, tcell.Button1)
	}
	d.mouse(toX, toY, tcell.ButtonNone)
}

func TestMouseInTheTable(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.click("crash loop ×4")
		d.shows("▌ ✖ mailer")
		d.click("8080")
		if diff := cmp.Diff([]string{"http://localhost:8080/"}, d.opened); diff != "" {
			t.Error(diff)
		}
		d.click("▾ backend")
		d.shows("▌▸ backend")
		d.hides("✔ api")
		d.click("▸ backend")
		x, y := d.find("✔ api")
		for range 2 {
			d.mouse(x, y, tcell.Button1)
			d.mouse(x, y, tcell.ButtonNone)
		}
		d.shows("─ api  [1 updates]")
		d.click("2 pods")
		d.shows("[2 pods]", "api-7c9d-x2v1  ready")
	})
}

func TestMouseInTheLog(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for i := range 100 {
			d.write("api", fmt.Sprintf("line %04d", i))
		}
		d.after(time.Second)
		x, y := d.find("line 0099")
		d.mouse(x, y, tcell.WheelUp)
		d.mouse(x, y, tcell.WheelUp)
		d.shows("paused", "line 0093")
		d.hides("line 0094")
		d.click("line 0090")
		d.press("c")
		if diff := cmp.Diff("line 0090\n", d.copied()); diff != "" {
			t.Error(diff)
		}
		d.drag("api │ line 0085", "line 0088")
		d.after(2 * frameTime)
		d.shows("copied 4 lines")
		if diff := cmp.Diff("line 0085\nline 0086\nline 0087\nline 0088\n", d.copied()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestMouseSelectsText: a drag that begins in the text selects text, and nothing outside of the pane.
func TestMouseSelectsText(t *testing.T) {
	digits := strings.Repeat("0123456789", 12)
	play(t, func(t *testing.T, d *driver) {
		for i := range 8 {
			d.write("api", fmt.Sprintf("line %04d of the log", i))
		}
		d.write("web", digits)
		d.after(time.Second)
		for _, tt := range []struct {
			name       string
			from, to   string
			offset     int // of the end, from where the text begins
			mod        tcell.ModMask
			want, says string
		}{
			{"within a line", "0005 of", "0005 of", 6, tcell.ModNone, "0005 of", "copied 7 characters"},
			{"several lines", "0005 of", "0007 of", 0, tcell.ModNone, "0005 of the log\nline 0006 of the log\nline 0", "copied 3 lines"},
			{"upwards", "0007 of", "0005 of", 0, tcell.ModNone, "0005 of the log\nline 0006 of the log\nline 0", "copied 3 lines"},
			{"a block", "0005 of", "0007 of", 3, tcell.ModAlt, "0005\n0006\n0007", "copied 3 lines"},
			{"a wrapped line", digits[:20], digits[:20], 0, tcell.ModNone, "", ""},
		} {
			x, y := d.find(tt.from)
			toX, toY := d.find(tt.to)
			if tt.want == "" { // to the second row of the line
				toX, toY, tt.offset = x, y+1, 2
				tt.want, tt.says = digits[:120-x+3], "characters"
			}
			move := func(x, y int, b tcell.ButtonMask) {
				d.term.InjectMouse(x, y, b, tt.mod)
				synctest.Wait()
			}
			move(x, y, tcell.Button1)
			move(toX+tt.offset, toY, tcell.Button1)
			move(toX+tt.offset, toY, tcell.ButtonNone)
			d.after(2 * frameTime) // it is read away from the drawing
			if diff := cmp.Diff(tt.want, d.copied()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
			d.shows(tt.says)
		}
	})
}

func TestMouseDragsTheBorder(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		_, before := d.find("─ all resources")
		d.drag("─ all resources", "✔ web")
		if _, now := d.find("─ all resources"); now >= before-5 {
			t.Errorf("the border went from row %d to %d", before, now)
		}
		d.press("+") // the table has the focus: it grows
		_, grown := d.find("─ all resources")
		d.press("<Tab>++")
		if _, now := d.find("─ all resources"); now != grown-2 {
			t.Errorf("the border went from row %d to %d", grown, now)
		}
	})
}

// TestMouseSortsByHeadings: a click on the title of a column orders by it, and a second one by group again.
func TestMouseSortsByHeadings(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for _, tt := range []struct{ title, says string }{
			{"NAME", "resources by name"}, {"NAME", "resources by group"}, {"CHANGED", "resources by last change"}, {"UPDATE", "resources alerts first"}, {"RUNTIME", "resources by group"},
		} {
			d.click(tt.title)
			d.shows(tt.says)
		}
	})
}

// TestShiftIsTheTerminals: while Shift is held, the mouse makes the terminal's own selection.
func TestShiftIsTheTerminals(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		before := d.text()
		x, y := d.find("crash loop ×4")
		for _, b := range []tcell.ButtonMask{tcell.Button1, tcell.ButtonNone} {
			d.term.InjectMouse(x, y, b, tcell.ModShift)
			synctest.Wait()
		}
		if diff := cmp.Diff(still.Replace(before), still.Replace(d.text())); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
}

// TestClicksDoWhatKeysDo: clicks on the counts in the header, the notices, the parts of the log's title and the hints in the
// footer.
func TestClicksDoWhatKeysDo(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.click("2 build")
		d.shows("[2 build]")
		d.click("1 all")
		d.shows("[1 all]")
		d.press("L")
		d.click("level: warnings")
		d.shows("level: errors")
		d.press("L")
		d.shows("level: with details")
		d.press("L")
		d.hides("level:")
		d.press("<Tab>g")
		d.shows("paused")
		d.click("paused")
		d.shows("follow ●")
		d.press("/smtp<Enter>")
		d.click("filter: smtp")
		d.shows(" filter log: smtp")
		d.press("<Esc><Esc>") // the prompt with the filter, the focus of the log
		d.click("✖ 1 failing")
		d.shows("─ ✖ mailer ─")
		d.click("full log")
		d.shows("─ mailer ")
		d.hides("─ ✖ mailer ─")
		d.click("why") // in the footer
		d.shows("why: ")
		d.click("w a file")
		d.shows("what does a change of this file do")
	})
}

// TestDragBeyondTheEdgeGoesOn: a selection grows while the mouse is held outside of the log, until the button is up or the log
// ends.
func TestDragBeyondTheEdgeGoesOn(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.manyLines("api", 0, 400)
		d.after(time.Second)
		x, y := d.find("line 0399")
		_, title := d.find("─ all resources")
		move := func(y int, b tcell.ButtonMask) {
			d.term.InjectMouse(x, y, b, tcell.ModNone)
			synctest.Wait()
		}
		move(y, tcell.Button1)
		move(title-2, tcell.Button1)
		d.after(2 * time.Second)
		d.shows("paused", "selecting")
		d.hides("line 0380")
		move(title-2, tcell.ButtonNone)
		d.after(time.Second)
		highest := func() string { return regexp.MustCompile(`line \d{4}`).FindString(d.text()) }
		before := highest()
		d.after(time.Second)
		if diff := cmp.Diff(before, highest()); diff != "" {
			t.Errorf("it scrolls on (-before +after):\n%s", diff)
		}
		lines := strings.Split(strings.TrimSpace(d.copied()), "\n")
		if n := len(lines); n < 60 || lines[n-2] != "line 0398" {
			t.Errorf("%d lines are copied, the last ones %q", n, lines[max(n-3, 0):])
		}
		for i, l := range lines[1:max(len(lines)-1, 1)] {
			if want := fmt.Sprintf("line %04d", 400-len(lines)+i+1); l != want {
				t.Fatalf("line %d is %q, not %q", i, l, want)
			}
		}
	})
}
