package screen

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"
)

// find returns where a text is on the terminal.
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
		d.drag("line 0085", "line 0088")
		d.shows("copied 4 lines")
		if diff := cmp.Diff("line 0085\nline 0086\nline 0087\nline 0088\n", d.copied()); diff != "" {
			t.Error(diff)
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
