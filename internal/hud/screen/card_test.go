package screen

import (
	"fmt"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/view"
)

// cards replaces rows and cards of the view.
func (d *driver) cards(rows []view.Row, cards ...view.Card) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		f.View.Rows, f.View.Cards = rows, cards
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second)
}

func TestCards(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.logs.Append(logstore.Entry{Resource: "service-003", Span: "pod:x", Source: logstore.SourceRuntime, Level: logstore.LevelError,
			Text: "FATAL smtp: no such host"})
		for i := range 3 {
			d.logs.Append(logstore.Entry{Resource: "service-003", Span: "pod:y", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: fmt.Sprintf("another run %d", i)})
		}
		d.cards(manyRows(5, 1, 3),
			view.Card{Resource: "service-001", Title: "the update failed", Cause: []string{"go build: exit 1"}, Output: "main.go:41:2: unused\n",
				Helps: []string{"correct it"}, Waiting: resourceNames("web", "e2e")},
			view.Card{Resource: "service-003", Aspect: view.AspectRuntime, Title: "crash loop ×4", Span: "pod:x"})
		d.press("e")
		d.shows("▌ ✖ service-001", "✖ service-001 ─ the update failed", "1 of 2", "go build: exit 1", "main.go:41:2: unused",
			"What helps: correct it", "Waiting for it: service-001 → web → e2e")
		d.press("e")
		d.shows("▌ ✖ service-003", "crash loop ×4", "2 of 2", "FATAL smtp: no such host")
		d.hides("What helps")
		d.press("e")
		d.shows("1 of 2")
		d.press("E")
		d.shows("2 of 2")
		d.press("l")
		d.shows("─ service-003 ─", "FATAL smtp", "another run 0", "paused")
		d.hides("2 of 2")
		d.press("<Esc><Esc>e")
		d.shows("1 of 2") // the failure of the selected resource was seen already
		d.press("<Enter>")
		d.shows("this resource no longer exists")
		d.press("<Esc>e")
		d.cards(manyRows(5))
		d.shows("this failure is gone")
		d.press("e")
		d.shows("nothing is failing")
		d.hides("this failure is gone")
	})
}

func TestCardThatDoesNotFitScrolls(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 60, 15), shop(t), func(_ *testing.T, d *driver) {
		var causes []string
		for i := range 30 {
			causes = append(causes, fmt.Sprintf("cause %02d of a failure that has a lot to say for itself and more", i))
		}
		d.cards(manyRows(2, 1), view.Card{Resource: "service-001", Title: "the update failed", Cause: causes})
		d.press("e")
		d.shows("cause 00")
		d.hides("cause 29")
		d.press("G")
		d.shows("cause 29")
		d.press("gj")
		d.hides("cause 00 of a failure that has a lot to say for itself")
		d.press("q")
		d.hides("cause")
	})
}

func TestRunsOfAContainer(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for run := range 3 {
			for i := range 40 {
				d.logs.Append(logstore.Entry{Resource: "service-003", Span: fmt.Sprintf("pod:default/x/main:%d", run), Source: logstore.SourceRuntime,
					Level: logstore.LevelInfo, Text: fmt.Sprintf("run %d line %d", run, i)})
			}
		}
		d.cards(manyRows(5, 3), view.Card{Resource: "service-003", Aspect: view.AspectRuntime, Title: "crash loop ×4", Span: "pod:default/x/main:2"})
		d.press("el")
		d.shows("─ service-003 ─", "run 2 line 0", "paused")
		d.press("{")
		d.shows("run 1 line 0")
		d.press("{{")
		d.shows("no earlier run")
		d.press("}")
		d.shows("run 1 line 0")
		d.press("<Esc><Esc><Esc>eep")
		d.shows("run 1 line 0")
	})
}
