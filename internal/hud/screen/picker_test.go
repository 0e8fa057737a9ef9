package screen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPickersFollow: a list to choose from shows the present state. The selected choice stays selected, and if it is gone, Enter
// does not choose the one in its place.
func TestPickersFollow(t *testing.T) {
	gone := map[model.ManifestName]bool{}
	runtime := ""
	play(t, func(t *testing.T, d *driver) {
		change := func(f func()) {
			f()
			d.changed <- struct{}{}
			d.after(2 * frameTime)
		}
		d.press("<Ctrl-P><Down><Down><Down>") // after (Tiltfile), api and worker
		change(func() { runtime = "quite another thing" })
		d.shows("resources", "quite another thing")
		change(func() { gone["api"] = true })
		d.press("<Enter>")
		if got := d.line("▌"); !strings.Contains(got, "mailer") {
			t.Errorf("went to %q", got)
		}
		d.press("<Ctrl-P><Down>")
		change(func() { gone["worker"] = true })
		d.press("<Enter>")
		d.shows("resources") // it is still open
		d.press("<Up><Enter>")
		if got := d.line("▌"); !strings.Contains(got, "(Tiltfile)") {
			t.Errorf("went to %q", got)
		}
	}, func(d *driver, _ *Options) {
		before := d.view
		d.view = func(now time.Time) Frame {
			f := before(now)
			f.View.Rows = slices.DeleteFunc(slices.Clone(f.View.Rows), func(r view.Row) bool { return gone[r.Name] })
			for i := range f.View.Rows {
				if r := &f.View.Rows[i]; runtime != "" && r.Name == "mailer" {
					r.RuntimeErr, r.Runtime = runtime, view.Cell{{Text: runtime, Tone: view.Bad}}
				}
			}
			return f
		}
	})
}
