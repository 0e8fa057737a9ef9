package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// TestFilterThatLeavesOneRowSelectsIt, so that the keys then act on that row.
func TestFilterThatLeavesOneRowSelectsIt(t *testing.T) {
	for _, start := range []string{"", "<End>", "jj"} {
		play(t, func(t *testing.T, d *driver) {
			d.press(start + "/api<Enter>t")
			d.shows("▌ ✔ api", "api will be updated")
			d.press("<Enter>")
			d.shows("─ api  [1 updates]")
			if diff := cmp.Diff([]model.ManifestName{"api"}, d.triggered()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFilterRanks: the name that fits best is the first, whatever its group.
func TestFilterRanks(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("/e<Enter>")
		d.hides("▾ backend")
		d.press("<Esc>/wr<Enter>")
		d.shows("▌ ⠋ worker")
		d.press("<Esc>/label:backend<Enter>")
		d.shows("▾ backend")
	})
}

func TestHeadingsAreSelected(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("j<Enter>")
		d.shows("▌▸ backend", "▾ frontend")
		d.hides("✔ api", "worker  ")
		if !d.reversed("▸ backend") {
			t.Error("the selected heading is not marked")
		}
		d.press("a")
		d.shows("─ backend ─", "declared and not used", "no such host") // the logs of its members
		d.hides("Successfully loaded Tiltfile")
		d.press("t")
		d.shows("api, worker and mailer will be updated")
		d.press("j<Left>")
		d.shows("▌▸ frontend", "▸ backend")
		d.press("<Right>")
		d.shows("▌▾ frontend", "▸ backend", "✔ web")
		d.press("e<Esc>") // also in a folded group
		d.shows("▾ backend", "▌ ✖ mailer")
	})
}

// TestFoldedHeadingShowsItsFailingMembers in the colour of failures.
func TestFoldedHeadingShowsItsFailingMembers(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("j<Left>G")
		want := theme{}.style(view.Bad)
		for _, s := range d.styles("· ✖ 1")[2:] {
			if s != want {
				t.Errorf("drawn as %v instead of %v", s, want)
			}
		}
	})
}

// rows replaces the rows of the view.
func (d *driver) rows(rows ...view.Row) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		f.View.Rows = rows
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second)
}

func manyRows(n int, failing ...int) []view.Row {
	rows := make([]view.Row, n)
	for i := range rows {
		rows[i] = view.Row{Name: model.ManifestName(fmt.Sprintf("service-%03d", i)), Status: view.Well, Update: view.Cell{{Text: "ok"}}}
	}
	for _, i := range failing {
		rows[i].Status, rows[i].UpdateErr = view.Failed, "broken"
	}
	return rows
}

// TestRowsOutOfSightLeaveASign, which counts the failing ones.
func TestRowsOutOfSightLeaveASign(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 80, 24), shop(t), func(t *testing.T, d *driver) {
		d.rows(manyRows(30, 2, 28, 29)...)
		d.shows("▼ 21 ✖ 2")
		d.hides("▲")
		d.press("<End>")
		d.shows("▲ 21 ✖ 1")
		d.hides("▼")
		d.press(strings.Repeat("k", 15))
		d.shows("▲ 14 ✖ 1", "▼ 7 ✖ 2")
	})
}

// TestSelectionIsSeen: the whole line of the selected row stands out while the table has the focus, and its name stays bold
// while the log has it.
func TestSelectionIsSeen(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jj")
		if !d.reversed("✔ api") || !d.reversed("running 1/1             8080") {
			t.Error("the selected row is not marked")
		}
		if d.reversed("all resources") {
			t.Error("the log seems to have the focus")
		}
		d.press("<Tab>")
		if d.reversed("✔ api") {
			t.Error("the table seems to have the focus")
		}
		if !d.reversed("all resources") {
			t.Error("the log does not show that it has the focus")
		}
	})
}

func TestOrders(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		first := func(n int) string {
			var names []string
			for l := range strings.Lines(d.text()) {
				if fields := strings.Fields(strings.TrimLeft(l, " ▌")); len(names) < n && len(fields) > 1 && len([]rune(fields[0])) == 1 {
					names = append(names, fields[1])
				}
			}
			return strings.Join(names, " ")
		}
		d.press("jj>")
		d.shows("resources alerts first")
		d.hides("▾ backend")
		if got := first(3); got != "mailer e2e worker" {
			t.Errorf("alerts first: %s", got)
		}
		d.shows("▌ ✔ api") // the selection stays
		d.press(">")
		if got := first(3); got != "(Tiltfile) api docs" {
			t.Errorf("by name: %s", got)
		}
		d.press(">")
		if got := first(2); got != "worker api" {
			t.Errorf("by last change: %s", got)
		}
		d.press(">")
		d.shows("▾ backend")
	})
}

// TestLayout: the user's arrangement is remembered, and a remembered layout is taken over, as far as it is valid.
func TestLayout(t *testing.T) {
	var kept []Layout
	play(t, func(t *testing.T, d *driver) {
		d.press("j<Left>")
		d.press(">>>>")
		d.press("a2Wiz")
		d.press("<Tab>z++")
		if len(kept) == 0 {
			t.Fatal("nothing was kept")
		}
		got := kept[len(kept)-1]
		if got.LogRows == 0 {
			t.Error("the height of the log was not kept")
		}
		got.LogRows = 0
		if diff := cmp.Diff(Layout{One: true, Source: 1, Folded: []string{"backend"}, Cut: true, Time: 1}, got); diff != "" {
			t.Error(diff)
		}
	}, func(_ *driver, o *Options) { o.KeepLayout = func(l Layout) { kept = append(kept, l) } })
	play(t, func(_ *testing.T, d *driver) {
		d.shows("▸ backend", "[2 build]")
		d.hides("✔ api")
		_, y := d.find("─ all resources")
		if y != 34-1-7 {
			t.Errorf("the log begins at row %d", y)
		}
	}, func(_ *driver, o *Options) {
		o.Layout = Layout{LogRows: 7, Source: 1, Folded: []string{"backend", "gone"}, Time: 99, Order: -1, Fields: 7}
	})
}
