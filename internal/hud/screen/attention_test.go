package screen

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// TestAnnouncements lets a resource fail while the terminal has the focus, does not have it, or was never asked about it, in
// terminals of several kinds, and checks the announcements.
func TestAnnouncements(t *testing.T) {
	const (
		busy, cleared = "\x1b]9;4;3\x1b\\", "\x1b]9;4;0\x1b\\"
		osc777        = "\x1b]777;notify;hone shop;✖ web: crash loop, exit 1\x1b\\"
		osc9          = "\x1b]9;hone shop: ✖ web: crash loop, exit 1\x1b\\"
		inTmux        = "\x1bPtmux;\x1b\x1b]9;hone shop: ✖ web: crash loop, exit 1\x1b\x1b\\\x1b\\"
		title         = "\x1b]2;✖ 2 shop – hone\x1b\\"
		lost, gained  = "\x1b[O", "\x1b[I"
	)
	wezterm := terminal.Description{Program: "WezTerm", Version: "20260101"}
	for _, tt := range []struct {
		name     string
		term     string
		about    terminal.Description
		settings settings.Settings
		focus    string
		rest     time.Duration // until it fails, without a key
		want     []string
		without  []string // not even its beginning
	}{
		{"WezTerm", "xterm-256color", wezterm, settings.Settings{}, lost, 0, []string{osc777, busy, cleared, title}, []string{"\a"}},
		{"which has the focus", "xterm-256color", wezterm, settings.Settings{}, "", 0, []string{busy, title}, []string{"]777", "\a"}},
		{"which has it again", "xterm-256color", wezterm, settings.Settings{}, lost + gained, 0, []string{title}, []string{"]777", "\a"}},
		{"which keeps it while the user only looks", "xterm-256color", wezterm, settings.Settings{}, lost + gained, absence, []string{title}, []string{"]777", "\a"}},
		{"which never tells, while the user does something", "xterm-256color", wezterm, settings.Settings{}, "", absence - 3*time.Second, []string{title}, []string{"]777", "\a"}},
		{"which never tells, and the user has been gone for a while", "xterm-256color", wezterm, settings.Settings{}, "", absence, []string{osc777}, []string{"\a"}},
		{"iTerm2 before progress", "xterm-256color", terminal.Description{Program: "iTerm.app", Version: "3.5.0"}, settings.Settings{}, lost, 0, []string{osc9, title}, []string{"]9;4"}},
		{"any xterm", "xterm-256color", terminal.Description{}, settings.Settings{}, lost, 0, []string{"\a", title}, []string{"]9;", "]777"}},
		{"chosen", "xterm-256color", terminal.Description{}, settings.Settings{Notify: settings.NotifyOSC9}, lost, 0, []string{osc9}, []string{"\a"}},
		{"off", "xterm-256color", wezterm, settings.Settings{Notify: settings.NotifyOff, NoTitle: true, NoProgress: true}, lost, 0, nil, []string{"]777", "]9;", "]2;", "\x1b[>2t", "\a"}},
		{"tmux", "tmux-256color", terminal.Description{Program: "tmux"}, settings.Settings{}, lost, 0, []string{"\a", title}, []string{"]9;", "]777", "Ptmux"}},
		{"tmux that keeps the focus to itself", "tmux-256color", terminal.Description{Program: "tmux"}, settings.Settings{}, "", absence, []string{"\a", title}, nil},
		{"through tmux", "tmux-256color", terminal.Description{Program: "tmux"}, settings.Settings{Notify: settings.NotifyOSC9}, lost, 0, []string{inTmux}, []string{"\a"}},
		{"GNU screen", "screen-256color", terminal.Description{}, settings.Settings{Notify: settings.NotifyOSC9}, lost, 0, []string{"\a"}, []string{"]9;", "]777", "]2;", "Ptmux"}},
		{"the console of Linux", "linux", terminal.Description{}, settings.Settings{Notify: settings.NotifyOSC777}, lost, 0, nil, []string{"]9;", "]777", "]2;", "]11", "]8;"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.rest > 0 {
				t.Skip("draws for a minute")
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWire()
				fails := false
				d := on(t, w, tt.term, tt.about, func(d *driver, o *Options) {
					o.Settings = tt.settings
					before := d.view
					d.view = func(now time.Time) Frame {
						f := before(now)
						if !fails {
							return f
						}
						for i := range f.View.Rows {
							if r := &f.View.Rows[i]; r.Name == "web" {
								r.Status, r.RuntimeErr, r.Runtime = view.Failed, "exit 1", view.Cell{{Text: "crash loop; exit 1"}}
								f.View.Header.Counts.Failed++
							}
						}
						return f
					}
				})
				d.after(2 * time.Second)
				if tt.focus != "" {
					w.typed <- tt.focus
					d.after(time.Second)
				}
				d.after(tt.rest)
				fails = true
				d.changed <- struct{}{}
				d.after(10 * time.Second)
				if err := d.stop(); err != nil {
					t.Error(err)
				}
				got := w.take()
				for _, s := range tt.want {
					if !strings.Contains(got, s) {
						t.Errorf("the terminal did not get %q", s)
					}
				}
				for _, s := range tt.without {
					if strings.Contains(got, s) {
						t.Errorf("the terminal got %q", s)
					}
				}
				if i := strings.LastIndex(got, "\x1b]2;"); i >= 0 && !strings.HasPrefix(got[i:], titleOf("")+restoreTitle) {
					t.Error("the title stays")
				}
				if i, j := strings.LastIndex(got, busy), strings.LastIndex(got, cleared); i > j {
					t.Error("the progress stays")
				}
			})
		})
	}
}

// TestOtherScreens shows the selections of the session's other screens, and tells them the selection of this one.
func TestOtherScreens(t *testing.T) {
	var moved []model.ManifestName
	others := []model.ManifestName{"web"}
	beside := Beside{Others: func() []model.ManifestName { return others }, Moved: func(to model.ManifestName) {
		if len(moved) == 0 || moved[len(moved)-1] != to {
			moved = append(moved, to)
		}
	}}
	play(t, func(t *testing.T, d *driver) {
		d.shows("+1 screen at web ")
		if got := d.line("✔ web "); !strings.HasPrefix(got, "›  ✔ web") {
			t.Errorf("the row of web: %q", got)
		}
		d.press("<Home>jj")
		others = []model.ManifestName{"", "api"}
		d.press("k")
		d.shows("+2 screens ")
		if got := d.line("✔ web "); strings.Contains(got, "›") {
			t.Errorf("the row of web: %q", got)
		}
		if got := fmt.Sprint(moved); got != "[ (Tiltfile)  api ]" {
			t.Errorf("moved to %s", got)
		}
	}, func(_ *driver, o *Options) {
		o.Beside = beside
	})
}
