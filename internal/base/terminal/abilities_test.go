package terminal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAbilities(t *testing.T) {
	modern := Abilities{Colors: true, Links: true, Title: true, Notice: Bell}
	with := func(change func(*Abilities)) Abilities {
		a := modern
		change(&a)
		return a
	}
	progress := with(func(a *Abilities) { a.Progress = true })
	for _, tt := range []struct {
		name string
		env  map[string]string
		want Abilities
	}{
		{"xterm", map[string]string{"TERM": "xterm-256color"}, modern},
		{"linux console", map[string]string{"TERM": "linux"}, Abilities{Notice: Bell}},
		{"vt100", map[string]string{"TERM": "vt100"}, Abilities{Notice: Bell}},
		{"dumb", map[string]string{"TERM": "dumb"}, Abilities{Notice: Bell}},
		{"no TERM", nil, Abilities{Notice: Bell}},
		{"screen", map[string]string{"TERM": "screen-256color"}, Abilities{Notice: Bell, Inside: GNUScreen}},
		{"screen with the name of another terminal", map[string]string{"TERM": "xterm-256color", "STY": "1.pts"}, Abilities{Notice: Bell, Inside: GNUScreen}},
		{"tmux", map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/tmux"}, with(func(a *Abilities) { a.Inside = Tmux })},
		{"tmux that calls itself screen", map[string]string{"TERM": "screen-256color", "TMUX": "/tmp/tmux"}, with(func(a *Abilities) { a.Inside = Tmux })},
		{"tmux over ssh", map[string]string{"TERM": "tmux-256color"}, with(func(a *Abilities) { a.Inside = Tmux })},
		{"a terminal that has started tmux", map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/tmux", "TERM_PROGRAM": "ghostty"}, with(func(a *Abilities) { a.Inside = Tmux })},
		{"kitty", map[string]string{"TERM": "xterm-kitty"}, with(func(a *Abilities) { a.Notice = OSC777 })},
		{"foot", map[string]string{"TERM": "foot-extra"}, with(func(a *Abilities) { a.Notice = OSC777 })},
		{"ghostty", map[string]string{"TERM": "xterm-ghostty"}, with(func(a *Abilities) { a.Notice, a.Progress = OSC777, true })},
		{"WezTerm", map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20250301-1"}, with(func(a *Abilities) { a.Notice, a.Progress = OSC777, true })},
		{"WezTerm before progress", map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203-110809-5046fc22"}, with(func(a *Abilities) { a.Notice = OSC777 })},
		{"iTerm2", map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.10.0"}, with(func(a *Abilities) { a.Notice, a.Progress = OSC9, true })},
		{"iTerm2 before progress", map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.5"}, with(func(a *Abilities) { a.Notice = OSC9 })},
		{"iTerm2 over ssh", map[string]string{"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2", "LC_TERMINAL_VERSION": "3.6"}, with(func(a *Abilities) { a.Notice = OSC9 })},
		{"Windows Terminal", map[string]string{"TERM": "xterm-256color", "WT_SESSION": "1"}, progress},
		{"ConEmu", map[string]string{"TERM": "xterm-256color", "ConEmuANSI": "ON"}, progress},
		{"VTE", map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7902"}, progress},
		{"VTE before progress", map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7006"}, modern},
		{"VTE before links", map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "4205"}, with(func(a *Abilities) { a.Links = false })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := FromEnvironment(func(name string) string { return tt.env[name] })
			if diff := cmp.Diff(tt.want, d.Abilities()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
