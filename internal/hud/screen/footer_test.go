package screen

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// TestFooterNamesVerbsThatWork: each verb that a place wants in its footer exists and works there.
func TestFooterNamesVerbsThatWork(t *testing.T) {
	all := verbs(Options{Ask: nothing, Suspend: func(context.Context) error { return nil }})
	for at, hints := range footers {
		for _, h := range hints {
			i := slices.IndexFunc(all, func(v verb) bool { return v.name == h.verb })
			if i < 0 || all[i].in&at == 0 {
				t.Errorf("place %b has no verb %q", at, h.verb)
			}
		}
	}
}

// TestFooter checks that the footer names the most important verbs of each place first, at any width, and cuts no hint.
func TestFooter(t *testing.T) {
	for _, tt := range []struct {
		keys, want string
	}{
		{"", "Enter details  t trigger  e next error  "},
		{"<Tab>", "f find  / filter  L level  Tab table  "},
		{"e", "e next error  l full log  o editor  Enter details  "},
		{"<Enter>", "Enter open  → Tab tabs  t trigger  w why  "},
		{"/e2e<Enter>", "showing e2e, Esc shows all   Enter details  "},
		{"j  ", "2 marked, Esc unmarks   Enter details  "},
		{"P", "Z pause all  e next error  "}, // no change waits,
	} {
		for width := minWidth; width <= 160; width += 4 {
			playAt(t, newTerminal("UTF-8", width, 20), shop(t), func(t *testing.T, d *driver) {
				d.press(tt.keys)
				lines := strings.Split(strings.TrimRight(d.text(), "\n"), "\n")
				got := strings.TrimSpace(lines[len(lines)-1])
				if !strings.HasSuffix(got, ": commands  ? keys") {
					t.Errorf("%q at %d columns: %s", tt.keys, width, got)
				}
				if shown := strings.TrimSuffix(got, ": commands  ? keys"); width >= 120 && !strings.HasPrefix(shown, tt.want) {
					t.Errorf("%q at %d columns: %s, want %s first", tt.keys, width, got, tt.want)
				}
			})
		}
	}
}
