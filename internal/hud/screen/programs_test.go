package screen

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/base/clipboard"
	"github.com/hone-dev/hone/internal/base/terminal"
)

// lendable is a terminal that knows who has it.
type lendable struct {
	simulated
	lent *bool
}

func (l lendable) Suspend() error {
	*l.lent = true
	return l.simulated.Suspend()
}

func (l lendable) Resume() error {
	*l.lent = false
	return l.simulated.Resume()
}

// TestPrograms shows the log in a pager: it has the terminal to itself, gets a file that only the user can read and that is
// gone afterwards, and the screen is there again when the pager has ended or failed.
func TestPrograms(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		lent, fails := false, error(nil)
		var paged, path string
		d := start(t, shop(t), newTerminal("UTF-8", 120, 34), func(_ *driver, o *Options) {
			o.Terminal = lendable{o.Terminal.(simulated), &lent}
			o.Programs.Page = func(_ context.Context, p string) error {
				if !lent {
					t.Error("the screen still has the terminal")
				}
				b, err := os.ReadFile(p)
				if err != nil {
					t.Error(err)
				}
				if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v %v", info, err)
				}
				paged, path = string(b), p
				return fails
			}
		})
		d.press("|")
		d.after(5 * frameTime)
		if !strings.Contains(paged, "main.go:41:2") {
			t.Errorf("the pager got %q", paged)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) || lent {
			t.Errorf("%v, lent: %v", err, lent)
		}
		d.press("?")
		d.shows("HERE")
		d.press("<Esc>")
		d.shows("NAME", "mailer", "picked job 8812", "? keys")
		fails = errors.New("the pager \"false\" has failed")
		d.press("|")
		d.after(5 * frameTime)
		d.shows(`the pager "false" has failed`, "NAME")
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestDesktopClipboard copies a line on a desktop: the terminal gets it as well, and an error is shown.
func TestDesktopClipboard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var copied string
		var fails error
		d := start(t, shop(t), newTerminal("UTF-8", 120, 34), func(_ *driver, o *Options) {
			o.Copy = func(_ context.Context, text string) error {
				copied = text
				return fails
			}
		})
		d.press("<Tab>c")
		d.after(5 * frameTime)
		d.shows("copied 1 line to the desktop")
		d.hides("only for the terminal")
		if copied == "" || copied != d.copied() {
			t.Errorf("the desktop has %q, the terminal %q", copied, d.copied())
		}
		fails = errors.New("xclip: exit status 1")
		d.press("c")
		d.after(5 * frameTime)
		d.shows("copied 1 line, but only for the terminal: xclip: exit status 1")
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestCopiedSaysWhereTo lists the messages after copying, for terminals of two types.
func TestCopiedSaysWhereTo(t *testing.T) {
	ok := func(context.Context, string) error { return nil }
	fails := func(err error) func(context.Context, string) error {
		return func(context.Context, string) error { return err }
	}
	for _, tt := range []struct {
		term string
		copy func(context.Context, string) error
		want string
	}{
		{"xterm-256color", nil, "copied 1 line: sent to the terminal's clipboard (OSC 52)"},
		{"xterm-256color", fails(clipboard.ErrNone), "copied 1 line: sent to the terminal's clipboard (OSC 52)"},
		{"xterm-256color", ok, "copied 1 line to the desktop"},
		{"xterm-256color", fails(errors.New("xsel: exit status 1")), "copied 1 line, but only for the terminal: xsel: exit status 1"},
		{"vt100", nil, "not copied: this terminal takes no text (OSC 52), and no program for a clipboard was found"},
		{"vt100", fails(clipboard.ErrNone), "not copied: this terminal takes no text (OSC 52), and no program for a clipboard was found"},
		{"vt100", ok, "copied 1 line to the desktop"},
		{"vt100", fails(errors.New("xsel: exit status 1")), "not copied: xsel: exit status 1"},
	} {
		t.Run(tt.term+" "+tt.want, func(t *testing.T) {
			play(t, func(_ *testing.T, d *driver) {
				d.press("<Tab>c")
				d.after(5 * frameTime)
				d.shows(tt.want)
			}, func(_ *driver, o *Options) {
				o.Copy, o.About = tt.copy, terminal.Description{Term: tt.term}
			})
		})
	}
}
