package screen

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/test/hostile"
)

// TestHostileText draws every view with escape sequences in all text that others can write: none reaches the terminal.
func TestHostileText(t *testing.T) {
	for i, tt := range drawings {
		if testing.Short() && i%4 > 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			v := tt.snapshot(t)
			hostile.FillSession(v, hostile.All())
			playAt(t, newTerminal("UTF-8", 200, 50), v, func(t *testing.T, d *driver) {
				for kind, s := range hostile.Kinds {
					d.logs.Append(logstore.Entry{Resource: "api", Span: "build:api:9", Text: kind + s + " http://x/" + s + " main.go:1:2 " + s})
				}
				d.press(tt.keys)
				if tt.play != nil {
					tt.play(d)
				}
				d.after(2 * frameTime)
				if found := hostile.Found(d.text()); found != "" {
					t.Errorf("the terminal gets %q:\n%s", found, d.text())
				}
				for y := range 50 {
					for x := range 200 {
						_, style, _ := d.term.Get(x, y)
						if found := hostile.Found(fmt.Sprint(style)); found != "" { // it has no other way to its link
							t.Fatalf("a link has %q", found)
						}
					}
				}
			}, func(_ *driver, o *Options) {
				o.About = terminal.Description{Program: "iTerm.app", Version: "3.6.6", Host: "laptop"}
				if tt.options != nil {
					tt.options(o)
				}
			})
		})
	}
}
