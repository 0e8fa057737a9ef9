package screen

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

func TestTabsOfDetails(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("jj<Enter>")
		d.shows("─ api  [1 updates]", "#2", "in place")
		for _, step := range []struct{ keys, want string }{
			{"2", "[2 pods]"}, {"<Right>", "[3 events]"}, {"<Tab>", "[4 objects]"}, {"<Left><Left>", "[2 pods]"}, {"<Left><Left>", "[6 graph]"},
			{"<Right>", "[1 updates]"}, {"6", "[6 graph]"},
		} {
			d.press(step.keys)
			d.shows(step.want)
		}
		d.press("t")
		d.shows("api will be updated")
		d.press("q")
		d.shows("▌ ✔ api")
	})
}

// TestDetailsLeadOn: Enter follows a line that leads somewhere, or unfolds one.
func TestDetailsLeadOn(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		lines := []view.Line{
			{Cell: view.Cell{{Text: "a title"}}},
			{Cell: view.Cell{{Text: "an update that failed"}}, Folded: []view.Line{{Cell: view.Cell{{Text: "its output"}}}}},
			{Cell: view.Cell{{Text: "an address"}}, Target: view.Target{URL: "http://localhost:1/"}},
			{Cell: view.Cell{{Text: "the log"}}, Target: view.Target{Span: "build:api:2"}},
			{Cell: view.Cell{{Text: "another resource"}}, Target: view.Target{Resource: "web"}},
		}
		d.details(lines)
		d.press("jj<Enter>")
		d.shows("a title", "▸an update that failed")
		d.hides("its output")
		if !d.reversed("an update that failed") {
			t.Error("the first line that can be selected is not selected")
		}
		d.press("<Enter>")
		d.shows("▾an update that failed", "its output")
		d.press("<Enter>")
		d.hides("its output")
		d.press("j<Enter>")
		if diff := cmp.Diff([]string{"http://localhost:1/"}, d.opened); diff != "" {
			t.Error(diff)
		}
		d.press("jj<Enter>")
		d.shows("─ web ")
		d.press("<Esc>jj<Enter>jj")
		d.press("<Esc>")
		d.press("<Home>jj<Enter>jj<Enter>")
		d.shows("─ api ─", "▌ ✔ api", "1 File Changed: [api/handler.go]", "paused")
	})
}

func resourceNames(names ...string) []model.ManifestName {
	var out []model.ManifestName
	for _, n := range names {
		out = append(out, model.ManifestName(n))
	}
	return out
}

// details replaces the details of every resource by one tab.
func (d *driver) details(lines []view.Line) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		f.Details = func(name model.ManifestName) (view.Details, bool) {
			return view.Details{Name: name, Tabs: []view.Tab{{Title: "updates", Lines: lines}}}, true
		}
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second)
}

func TestWhy(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("/e2e<Enter>w")
		d.shows("why: e2e", "e2e waits for worker to be ready", "worker is being updated")
		d.press("w")
		d.shows("what does a change of this file do:")
		d.paste("README.md\n")
		d.press("<Enter>")
		d.shows("a change of README.md", "nothing happens", "e2e does not watch it")
		d.press("<Esc>")
		d.shows("showing e2e")
	})
}
