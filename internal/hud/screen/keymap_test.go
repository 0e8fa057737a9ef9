package screen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/settings"
)

func TestParseKey(t *testing.T) {
	for text, want := range map[string]key{
		"t": {letter: 't'}, "?": {letter: '?'}, "é": {letter: 'é'}, "Space": {letter: ' '}, "F5": {named: tcell.KeyF5}, "ctrl-r": {named: tcell.KeyCtrlR},
		"Ctrl+R": {named: tcell.KeyCtrlR}, "enter": {named: tcell.KeyEnter}, "TAB": {named: tcell.KeyTab}, "PgUp": {named: tcell.KeyPgUp}, "Delete": {named: tcell.KeyDelete}, "up": {named: tcell.KeyUp},
	} {
		if got, ok := parseKey(text); !ok || got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "tt", "Ctrl-", "Alt-x", "Shift-F1", " ", "\xff", "F99"} {
		if got, ok := parseKey(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestCheck(t *testing.T) {
	bind := func(verb string, keys ...string) settings.Settings {
		return settings.Settings{Keys: []settings.Binding{{Verb: verb, Keys: keys, Place: "screen.yaml:2"}}}
	}
	own := func(name, key string) settings.Settings {
		return settings.Settings{Commands: []settings.Command{{Name: name, Key: key, Run: "true", Place: "screen.yaml:5"}}}
	}
	for _, tt := range []struct {
		name          string
		s             settings.Settings
		summary, mend string
	}{
		{"nothing", settings.Settings{}, "", ""},
		{"another key", bind("pager", "F4"), "", ""},
		{"its own key", bind("trigger", "t", "F5"), "", ""},
		{"no key", bind("pager"), "", ""},
		{"an unknown verb", bind("triger", "x"), `screen.yaml:2: no verb is called "triger"`, "did you mean trigger?"},
		{"no key of that name", bind("pager", "Ctrl-"), `screen.yaml:2: "Ctrl-" is not a key`, "Ctrl-A to Ctrl-Z"},
		{"a key that is taken", bind("pager", "t"), "screen.yaml:2: the key t of pager belongs to trigger already", "give trigger another one"},
		{"a key of another place", bind("card-log", "x"), "", ""},
		{"quit without a key", bind("quit"), "quit has no key", "give it one"},
		{"a command", own("describe", "D"), "", ""},
		{"a command without a key", own("describe", ""), "", ""},
		{"a command with a key that is taken", own("describe", "d"), "screen.yaml:5: the key d of describe belongs to enable-or-disable already", ""},
	} {
		err := Check(tt.s)
		if tt.summary == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		p, ok := problem.Of(err)
		if !ok || !strings.Contains(p.Summary, tt.summary) || !strings.Contains(p.Mend, tt.mend) {
			t.Errorf("%s: %v, %+v", tt.name, err, p)
		}
	}
}

// TestKeysOfTheUser: chosen keys replace the keys of the verb, in the help as well; entries that this version does not know are
// left out.
func TestKeysOfTheUser(t *testing.T) {
	s := settings.Settings{Keys: []settings.Binding{{Verb: "trigger", Keys: []string{"F5"}}, {Verb: "made-up", Keys: []string{"t"}}, {Verb: "details", Keys: []string{"Enter", "D"}}}}
	play(t, func(t *testing.T, d *driver) {
		d.press("/api<Enter>t")
		if len(d.asked) > 0 {
			t.Errorf("t asked %v", d.asked)
		}
		d.press("<F5>")
		d.shows("api will be updated")
		d.press("D")
		d.shows("─ api  [1 updates]")
		d.press("?")
		d.shows("F5       trigger            trigger an update")
	}, func(_ *driver, o *Options) { o.Settings = s })
}

// TestHighlightsOfTheUser stand out in the log.
func TestHighlightsOfTheUser(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		bold := func(s tcell.Style) bool { _, _, attrs := s.Decompose(); return attrs&tcell.AttrBold != 0 }
		for _, text := range []string{"job 8812", "listening"} {
			for _, s := range d.styles(text) {
				if !bold(s) {
					t.Errorf("%q does not stand out", text)
				}
			}
		}
		if bold(d.styles("picked")[0]) {
			t.Error("more stands out than was chosen")
		}
	}, func(_ *driver, o *Options) {
		o.Settings.Highlights = []settings.Highlight{{Text: `/job \d+/`}, {Text: "listening"}, {Text: "/(/"}}
	})
	if err := Check(settings.Settings{Highlights: []settings.Highlight{{Text: "/(/", Place: "screen.yaml:4"}}}); err == nil || !strings.Contains(err.Error(), "screen.yaml:4") {
		t.Errorf("%v", err)
	}
}

// TestCommandsOfTheUser run with the facts about the selection.
func TestCommandsOfTheUser(t *testing.T) {
	type ran struct {
		Run string
		Env []string
	}
	var all []ran
	answers := map[string]struct {
		out string
		err error
	}{
		"describe": {"Name: api\nStatus: fine\n", nil}, "short": {"done\n", nil}, "bad": {"one\ntwo\n", errors.New("exit status 3")}, "silent": {"", nil},
	}
	var commands []settings.Command
	for _, name := range []string{"describe", "short", "bad", "silent"} {
		commands = append(commands, settings.Command{Name: name, Run: "run " + name})
	}
	commands = append(commands, settings.Command{Name: "careful", Key: "D", Run: "rm -r data", Confirm: true}, settings.Command{Name: "psql", Run: "psql", Terminal: true})
	play(t, func(t *testing.T, d *driver) {
		d.press("/api<Enter>:describe<Enter>")
		d.after(time.Second)
		d.shows("─ describe ", "Name: api", "Status: fine")
		if diff := cmp.Diff([]ran{{"run describe", []string{"HONE_RESOURCE=api", "HONE_TILTFILE=/home/dev/shop/Tiltfile", "HONE_CONTEXT=kind-dev", "HONE_NAMESPACE=default",
			"HONE_POD=api-7c9d-x2v1", "HONE_CONTAINER=main", "HONE_URL=http://localhost:8080/", "HONE_RESOURCES="}}}, all); diff != "" {
			t.Errorf("ran (-want +got):\n%s", diff)
		}
		d.press("q:short<Enter>")
		d.after(time.Second)
		d.shows("short: done")
		d.press(":bad<Enter>")
		d.after(time.Second)
		d.shows("two", "exit status 3")
		d.press("q:silent<Enter>")
		d.after(time.Second)
		d.shows(" silent")
		n := len(all)
		d.press("D")
		d.shows("careful: rm -r data?")
		if d.press("n"); len(all) != n {
			t.Error("it ran without a yes")
		}
		d.press("Dy")
		d.after(time.Second)
		if len(all) != n+1 {
			t.Error("it did not run after a yes")
		}
		d.press("<Esc><Tab>k:psql<Enter>")
		d.after(time.Second)
		env := all[len(all)-1].Env
		for _, e := range env {
			if name, _, _ := strings.Cut(e, "="); !slices.Contains(settings.Facts, name) {
				t.Errorf("%s is no fact", name)
			}
		}
		if !slices.ContainsFunc(env, func(s string) bool {
			return strings.HasPrefix(s, "HONE_LINE=2026/11/20") || strings.HasPrefix(s, "HONE_LINE=#9")
		}) {
			t.Errorf("the line is missing in %q", env)
		}
	}, func(d *driver, o *Options) {
		o.Settings.Commands = commands
		o.Programs.Run = func(_ context.Context, c settings.Command, env []string) (string, error) {
			if lent := d.term.lent.Load(); lent != c.Terminal {
				d.t.Errorf("%s ran with the terminal lent: %v", c.Name, lent)
			}
			all = append(all, ran{c.Run, env})
			a := answers[c.Name]
			return a.out, a.err
		}
	})
}

// TestCommandsOfAReadOnlyScreen: a read-only screen runs no commands, and says so.
func TestCommandsOfAReadOnlyScreen(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("D")
		d.shows("a read-only screen runs no commands of your own: attach without --read-only")
		d.press(":describe<Enter>")
		d.shows("a read-only screen runs no commands of your own")
	}, func(_ *driver, o *Options) {
		o.ReadOnly, o.Ask = true, nil
		o.Settings.Commands = []settings.Command{{Name: "describe", Key: "D", Run: "true", Confirm: true}}
		o.Programs.Run = func(context.Context, settings.Command, []string) (string, error) {
			t.Error("a command was run")
			return "", nil
		}
	})
}
