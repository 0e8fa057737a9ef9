package screen

import (
	"fmt"
	"testing"
	"time"
)

func TestPromptEdits(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("/two words")
		d.shows("filter: two words")
		d.press("<Ctrl-W>x")
		d.shows("filter: two x")
		d.press("<Ctrl-A>a<End>z")
		d.shows("filter: atwo xz")
		d.press("<Ctrl-U>")
		d.hides("atwo")
		d.press("api<Enter>")
		d.press("/<Ctrl-U>web<Enter>")
		d.shows("✔ web")
		d.press("/<Up>")
		d.shows("filter: web")
		d.press("<Up>")
		d.shows("filter: api", "✔ api")
		d.hides("✔ web")
		d.press("<Down><Down>")
		d.shows("filter: web", "✔ web")
	})
}

func TestPromptTakesWhatIsPasted(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for i := range 300 {
			d.manyLines("api", i, i)
		}
		d.after(time.Second)
		d.press("f")
		d.paste("line 0017\n")
		d.shows("find in log: line 0017")
		d.press("<Enter>")
		d.after(time.Second)
		d.shows("line 0017 1 of 1", "api │ line 0017")
	})
}

// TestPastedTextIsNotTakenForKeys: a text that is pasted into the table triggers nothing.
func TestPastedTextIsNotTakenForKeys(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jj")
		d.paste("tttt\n")
		d.hides("will be updated")
		if len(d.triggered()) > 0 {
			t.Error("pasted letters triggered updates")
		}
	})
}

// TestPromptSaysWhatIsWrong while the user types, and keeps the last filter that is right.
func TestPromptSaysWhatIsWrong(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.press("<Tab>/declared")
		d.paste(" /(x/")
		d.after(time.Second)
		d.shows("missing closing )", "declared and not used")
		d.hides("Successfully")
	})
}

func TestFilterBelongsToWhatHasTheFocus(t *testing.T) {
	for _, size := range [][2]int{{120, 34}, {60, 10}, {80, 18}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			playAt(t, newTerminal("UTF-8", size[0], size[1]), shop(t), func(_ *testing.T, d *driver) {
				d.press("<Tab>/listen")
				d.after(time.Second)
				d.shows("filter log: listen", "listening on :8080")
				d.hides("Successfully")
				d.press("<Enter>")
				d.shows("filter: listen", "1 line")
				d.press("<Esc>")
				d.shows("10 lines")
			})
		})
	}
}
