package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
)

// TestWhatIsNewSinceTheSaveIsMarked checks that new messages are marked, and that a new error is on screen without looking for
// it.
func TestWhatIsNewSinceTheSaveIsMarked(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for i := range 200 {
			d.write("api", fmt.Sprintf("GET /users/%d 200", i))
			d.write("web", "cannot find the user") // another resource's message
		}
		d.logs.Append(logstore.Entry{Resource: "api", Span: "build:api:3", Source: logstore.SourceBuild, Level: logstore.LevelInfo, Text: "1 File Changed: [api/handler.go]"})
		d.write("api", "GET /users/7 200")
		d.write("api", "cannot find the user")
		d.write("web", "GET /something/else 200")
		d.after(time.Second)
		for text, sign := range map[string]string{"api │ cannot find the user": "+", "api │ GET /users/7 200": " ", "web │ GET /something": " "} {
			if l := d.line(text); !strings.HasPrefix(l, sign) {
				t.Errorf("%q instead of the sign %q", l, sign)
			}
		}
		d.hides("e shows it")
		d.logs.Append(logstore.Entry{Resource: "api", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: "panic: nil map"})
		d.press("<End>")
		for range 50 {
			d.write("web", "GET /something/else 200")
		}
		d.after(time.Second)
		d.shows("✖ api  panic: nil map", "e shows it")
		d.press("<Esc>e<Esc>") // the card of mailer comes first
		d.cards(manyRows(3))
		d.shows("▌ ✔ service")
	})
}

// TestErrorsInTurn: e shows the cards of the failures, then the new error lines of other resources, then the cards again. The
// card of a resource follows its error line, if hone learns a moment later that it fails.
func TestErrorsInTurn(t *testing.T) {
	const crash, first = "panic: nil map", "GET / 200"
	card := func(name string) view.Card {
		return view.Card{Resource: resourceName(name), Title: "crash loop", Cause: []string{"exit 2"}}
	}
	for _, tt := range []struct {
		name string
		play func(d *driver)
	}{
		{"only the line", func(d *driver) {
			d.cards(manyRows(3))
			d.press("e")
			d.shows("▌ ✔ service-001", "─ service-001 ─", crash)
			d.after(wantedTime + time.Second)
			d.press("e")
			d.shows("nothing is failing")
		}},
		{"the card follows the line", func(d *driver) {
			d.cards(manyRows(3))
			d.press("e")
			d.cards(manyRows(3, 1), card("service-001"))
			d.shows("✖ service-001 ─ crash loop", "1 of 1")
		}},
		{"another key", func(d *driver) {
			d.cards(manyRows(3))
			d.press("ej")
			d.cards(manyRows(3, 1), card("service-001"))
			d.hides("crash loop")
		}},
		{"another resource fails", func(d *driver) {
			d.cards(manyRows(3))
			d.press("e")
			d.cards(manyRows(3, 2), card("service-002"))
			d.hides("crash loop")
		}},
		{"too late", func(d *driver) {
			d.cards(manyRows(3))
			d.press("e")
			d.after(wantedTime)
			d.cards(manyRows(3, 1), card("service-001"))
			d.hides("crash loop")
			d.press("e")
			d.shows("✖ service-001 ─ crash loop")
		}},
		{"the card of the line's resource", func(d *driver) {
			d.cards(manyRows(3, 1), card("service-001"))
			d.press("ee")
			d.shows("✖ service-001 ─ crash loop", "1 of 1")
		}},
		{"cards, the line, and again", func(d *driver) {
			d.cards(manyRows(3, 0, 2), card("service-000"), card("service-002"))
			d.press("e")
			d.shows("✖ service-000 ─ crash loop", "1 of 2")
			d.press("e")
			d.shows("✖ service-002 ─ crash loop", "2 of 2")
			d.press("e")
			d.hides("crash loop")
			d.shows("▌ ✔ service-001", crash)
			d.press("e")
			d.shows("✖ service-000 ─ crash loop", "1 of 2")
			d.press("E")
			d.shows("✖ service-002 ─ crash loop", "2 of 2")
			d.press("e")
			d.shows("✖ service-000 ─ crash loop", "1 of 2")
		}},
		{"the line after the last card was closed", func(d *driver) {
			d.cards(manyRows(3, 0), card("service-000"))
			d.press("e<Esc>e")
			d.hides("crash loop")
			d.shows("▌ ✔ service-001", crash)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(_ *testing.T, d *driver) {
				rows := manyRows(3)
				for n := 1; n < 3; n++ {
					d.logs.Append(logstore.Entry{Resource: "service-001", Span: fmt.Sprintf("build:service-001:%d", n), Source: logstore.SourceBuild, Level: logstore.LevelInfo, Text: "update"})
					d.write("service-001", first)
				}
				rows[1].Changed = hudtest.ShopTime
				d.cards(rows)
				d.logs.Append(logstore.Entry{Resource: "service-001", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: crash})
				d.after(time.Second)
				tt.play(d)
			})
		})
	}
}

func TestJumpingBetweenUpdates(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for n := 3; n < 6; n++ {
			d.logs.Append(logstore.Entry{Resource: "api", Span: fmt.Sprintf("build:api:%d", n), Source: logstore.SourceBuild, Level: logstore.LevelInfo, Text: fmt.Sprintf("update %d", n)})
			d.manyLines("api", n*100, n*100+50)
		}
		d.after(time.Second)
		d.press("jja[")
		d.shows("update 5", "line 0500", "paused")
		d.press("[[")
		d.shows("update 3")
		d.hides("update 4")
		d.press("]")
		d.shows("update 4")
		d.press("]]")
		d.shows("no later update in this log")
	})
}

func TestMarks(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.manyLines("api", 1, 300)
		d.after(time.Second)
		d.press("<Tab>k <PgUp><PgUp>k ")
		d.shows("◆12:41:00")
		d.press("'")
		if l := d.line("line 0300"); !strings.HasPrefix(l, "◆") {
			t.Errorf("the marked line is %q", l)
		}
		d.press(" '")
		d.hides("line 0300")
		d.shows("◆12:41:00")
	})
}

// TestSaveThatBreaksIsOnScreen: the failure stays on screen until its card was opened.
func TestSaveThatBreaksIsOnScreen(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.cards(manyRows(5, 1), view.Card{Resource: "service-001", Title: "the update failed", Cause: []string{"go build: exit 1"},
			Output: "main.go:41:2: unused\n", Saved: []string{"worker/main.go"}})
		d.shows(" ✖ service-001  main.go:41:2: unused", "after a save of main.go  e shows it")
		d.press("e<Esc>")
		d.hides("e shows it")
	})
}
