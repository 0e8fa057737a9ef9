package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
)

func TestLinesOfJSON(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("jja")
		d.write("api", `{"time":"2026-11-20T12:41:00Z","level":"info","msg":"request served","path":"/users/7","status":200,"user":{"id":7}}`)
		d.write("api", `{"time":"2026-11-20T12:41:00Z","level":"info","msg":"served","path":"/","status":503}`)
		d.write("api", `plain text {"a":1}`)
		d.after(time.Second)
		d.shows("│ request served  path=/users/7  status=200  user.id=7", "│ served  path=/  status=503", `│ plain text {"a":1}`)
		d.press("J")
		d.shows("│ request served  path=/users/7  status=200  user.id=7", "│ served          path=/         status=503")
		d.press("J")
		d.shows(`│ {"time":"2026-11-20T12:41:00Z","level":"info","msg":"request served"`)
		d.press("J<Tab>kkk<Enter>")
		d.shows("│ request served  path=/users/7", "  path: /users/7", "  user.id: 7", "  time: 2026-11-20T12:41:00Z")
		d.press("<Enter>")
		d.hides("  path: /users/7")
	})
}

func TestRepeatsFold(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for range 120 {
			d.write("api", "GET / 200 in 3ms")
		}
		d.write("api", "another")
		d.after(time.Second)
		d.shows("GET / 200 in 3ms ×120", "picked job")
		d.press("F")
		d.hides("×120", "picked job")
		d.press("F<Tab>kk<Enter>")
		d.shows("120 times, F shows each")
	})
}

// TestTraceIsOneLine: the cursor and copying take the whole of a stack trace.
func TestTraceIsOneLine(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		trace := "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    boom()\nValueError: no such thing\n"
		d.logs.Logger("api", "run", logstore.SourceRuntime).Write(logstore.LevelInfo, "begin\n"+trace+"end\n")
		d.after(time.Second)
		d.press("<Tab>kk")
		d.press("c")
		d.shows("copied 4 lines")
		if diff := cmp.Diff(trace, d.copied()); diff != "" {
			t.Error(diff)
		}
		d.press("vkc")
		d.after(2 * frameTime)
		d.shows("copied 5 lines")
		d.press("L")
		d.after(time.Second)
		d.shows("level: warnings", "ValueError")
		d.hides("│ begin", "│ end")
		d.press("LC")
		d.after(time.Second)
		d.shows("level: errors")
	})
}

func TestCopyOfAllThatIsShown(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for i := range 3000 {
			d.write("api", fmt.Sprintf("line \x1b[31m%04d\x1b[0m", i))
		}
		d.press("<Tab>/\"line 2\"<Enter>")
		d.after(time.Second)
		d.press("C")
		d.shows("copied 1,000 lines")
		got := strings.Split(d.copied(), "\n")
		if len(got) != 1001 || got[0] != "line 2000" || got[999] != "line 2999" {
			t.Errorf("%d lines, the first %q", len(got), got[0])
		}
	})
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	play(t, func(t *testing.T, d *driver) {
		path := filepath.Join(dir, "shop.log")
		d.press("jja")
		for range 2 {
			d.press("s")
			d.shows("save log to: api-12410")
			d.press("<Ctrl-U>")
			d.paste(path)
			d.press("<Enter>")
			d.after(time.Second)
		}
		d.shows("shop.log exists already: choose another name")
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := "2026-11-20T12:00:05.000Z Initial Build\n2026-11-20T12:00:16.000Z listening on :8080\n2026-11-20T12:40:48.000Z 1 File Changed: [api/handler.go]\n"
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWrapAndTime(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 100, 30), shop(t), func(_ *testing.T, d *driver) {
		d.write("api", "begin "+strings.Repeat("0123456789", 30)+" finish")
		d.after(time.Second)
		d.shows("begin", "finish")
		d.press("W")
		d.shows("begin", "…")
		d.hides("finish")
		d.press("<Tab><Right><Right><Right><Right><Right><Right><Right><Right><Right><Right><Right><Right><Right>")
		d.shows("finish")
		d.hides("begin 0123")
		d.press("Wi")
		d.shows("40 m            api │ listening")
		d.press("i")
		d.hides("12:40:12", "40 m            api")
	})
}

func TestZoom(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("z")
		d.shows("✔ api")
		d.hides("all resources")
		d.press("<Tab>")
		d.shows("all resources")
		d.hides("✔ api")
		d.press("z")
		d.shows("all resources", "✔ api")
	})
}

// TestHiddenLog: lines that are not shown are no reason to draw, whatever hides the log, and a key that acts on the log brings it
// on screen.
func TestHiddenLog(t *testing.T) {
	for _, tt := range []struct{ name, hide, key, shows string }{
		{"zoomed table", "z", "L", "level: warnings"},
		{"zoomed table, find", "z", "fpicked<Enter>", "find: picked"},
		{"zoomed table, time", "z", "i", "─ all resources ─"},
		{"details", "<Enter>", "<Esc>L", "level: warnings"},
		{"help", "?", "<Esc>2", "[2 build]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(t *testing.T, d *driver) {
				d.cards(manyRows(60))
				d.press("j" + tt.hide)
				d.after(3 * time.Second)
				d.hides("─ all resources ─")
				count := func() int64 {
					before := d.term.shows.Load()
					for i := range 100 {
						d.write("service-001", fmt.Sprintf("line %d", i))
						d.after(20 * time.Millisecond)
					}
					return d.term.shows.Load() - before
				}
				if n := count(); n > 5 {
					t.Errorf("%d frames in 2 seconds of lines that are not shown", n)
				}
				d.press(tt.key)
				d.after(time.Second)
				d.shows("─ all resources ─", tt.shows)
				if n := count(); tt.key == "i" && n < 30 {
					t.Errorf("%d frames in 2 seconds of lines that are shown", n)
				}
			})
		})
	}
}

// TestColumnsOfFieldsShrinkAgain: once a wide value has gone, its column gives the room back, but not while the user scrolls, nor
// for a moment in a flood.
func TestColumnsOfFieldsShrinkAgain(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		n := 200
		line := func(path, extra string) {
			n++ // not a repeat
			d.write("api", fmt.Sprintf(`{"level":"info","msg":"served","path":%q%s,"status":%d}`, path, extra, n))
		}
		d.press("jjaJ<Tab>")
		narrow, wide := "│ served  path=/  status=2", "│ served  path=/                   "
		line("/", "")
		d.after(time.Second)
		d.shows(narrow)
		line("/a/path/that/is/rather/long", `,"once":1`)
		line("/", "")
		d.after(time.Second)
		d.shows(wide)
		for range 20 {
			line("/", "")
		}
		d.after(2 * time.Second)
		d.shows(wide)
		d.hides(narrow)
		d.press("<PgUp>")
		d.after(2 * shrinkTime)
		d.shows(wide)
		d.press("<End>")
		d.after(time.Second)
		for range 4 {
			line("/", "")
			d.after(shrinkTime / 2)
		}
		d.shows(narrow)
		d.hides(wide, "once=")
	})
}
