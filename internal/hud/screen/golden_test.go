package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/view"
)

// sizes are the sizes at which every view is compared with a golden: the smallest with a table, a usual one, a large one.
var sizes = [][2]int{{60, 15}, {120, 34}, {200, 50}}

// phase keeps the time of a golden away from the moments at which ages change.
const phase = time.Second / 2

// TestViewsAtSizes draws every view.
func TestViewsAtSizes(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(d *driver)
	}{
		{"main", func(*driver) {}},
		{"main-alerts-first", func(d *driver) { d.press(">"); d.after(5*time.Second + phase) }},
		{"main-folded", func(d *driver) { d.press("j<Left>") }},
		{"main-filtered", func(d *driver) { d.press("/is:failing<Enter>") }},
		{"main-nothing-matches", func(d *driver) { d.press("/zzz<Enter>") }},
		{"main-notices", func(d *driver) {
			d.notices(view.Notice{Text: "cluster does not answer", Cause: "dial tcp 10.0.0.1:6443: i/o timeout", Mend: "check the network or start the cluster", Tone: view.Bad})
		}},
		{"log-focus", func(d *driver) { d.press("<Tab>kk") }},
		{"log-one", func(d *driver) { d.press("jjja") }},
		{"log-build", func(d *driver) { d.press("2"); d.after(time.Second + phase) }},
		{"log-errors", func(d *driver) { d.press("LL"); d.after(time.Second + phase) }},
		{"log-filter", func(d *driver) { d.press("<Tab>/level:warn /declared|host/<Enter>"); d.after(time.Second + phase) }},
		{"log-find", func(d *driver) { d.press("fchanged<Enter>"); d.after(time.Second + phase) }},
		{"log-zoomed", func(d *driver) { d.press("<Tab>z") }},
		{"log-selecting", func(d *driver) { d.press("<Tab>kvkk") }},
		{"prompt", func(d *driver) { d.press("<Tab>/level:loud") }},
		{"card", func(d *driver) { d.press("e") }},
		{"details-updates", func(d *driver) { d.press("jj<Enter>") }},
		{"details-pods", func(d *driver) { d.press("jj<Enter>2") }},
		{"details-graph", func(d *driver) { d.press("jj<Enter>6") }},
		{"details-tiltfile", func(d *driver) { d.press("<Enter>") }},
		{"why", func(d *driver) { d.press("/e2e<Enter>w") }},
		{"help", func(d *driver) { d.press("?") }},
		{"palette", func(d *driver) { d.press(":log") }},
		{"jump", func(d *driver) { d.press("<Ctrl-P>") }},
		{"marked", func(d *driver) { d.press("jj  ") }},
		{"endpoints", func(d *driver) { d.press("/api<Enter>b") }},
		{"buttons", func(d *driver) { d.press("/api<Enter>u") }},
		{"form", func(d *driver) { d.press("/api<Enter>useed<Enter><Tab><Right>") }},
		{"forwards", func(d *driver) { d.press("/api<Enter>p") }},
		{"pending", func(d *driver) { d.press("P") }},
		{"confirm", func(d *driver) { d.press("/api<Enter>d") }},
		{"notices", func(d *driver) {
			d.notices(view.Notice{Text: "cluster does not answer", Summary: "the cluster kind-dev does not answer", Cause: "dial tcp 10.0.0.1:6443: i/o timeout", Mend: "check the network or start the cluster", Tone: view.Bad})
			d.press("!")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range sizes {
				playAt(t, newTerminal("UTF-8", size[0], size[1]), shop(t), func(t *testing.T, d *driver) {
					tt.play(d)
					d.golden(fmt.Sprintf("views/%s-%dx%d", tt.name, size[0], size[1]))
					for i, l := range strings.Split(d.text(), "\n") {
						if n := runesWidth([]rune(l)); n > size[0] {
							t.Errorf("line %d is %d columns wide", i, n)
						}
					}
				})
			}
		})
	}
}

// notices replaces the notices of the view.
func (d *driver) notices(notices ...view.Notice) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		f.View.Notices = notices
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second + phase)
}
