package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
)

func TestLoad(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		env        map[string]string
		want       Settings
		// summary and mend are parts of the problem; the path of the file is left out.
		summary, mend string
	}{
		{name: "nothing"},
		{name: "comments only", text: "# theme: dark\n"},
		{name: "an empty document", text: "---\n"},
		{name: "all", text: "theme: light\nnotify: bell\ntitle: off\nprogress: no\nlinks: false\n",
			want: Settings{Theme: Light, Notify: NotifyBell, NoTitle: true, NoProgress: true, NoLinks: true}},
		{name: "off is a word", text: "notify: off\n", want: Settings{Notify: NotifyOff}},
		{name: "no notifications in CI", env: map[string]string{"CI": "true"}, want: Settings{Notify: NotifyOff}},
		{name: "CI is false", env: map[string]string{"CI": "false"}},
		{name: "chosen in CI", text: "notify: bell\n", env: map[string]string{"CI": "true"}, want: Settings{Notify: NotifyBell}},
		{name: "on", text: "links: Yes\n"},
		{name: "neither on nor off", text: "links: maybe\n", summary: `:1: links is "maybe", which is neither on nor off`, mend: "write on or off"},
		{name: "other spellings", text: "theme: Colour_Blind\n", want: Settings{Theme: ColorBlind}},
		{name: "high contrast in two words", text: "theme: high contrast\n", want: Settings{Theme: HighContrast}},
		{name: "variables win", text: "theme: light\nnotify: off\n", env: map[string]string{ThemeVariable: "dark", NotifyVariable: "osc9"},
			want: Settings{Theme: Dark, Notify: NotifyOSC9}},
		{name: "misspelled value", text: "# colours\n\ntheme: drak\n", summary: `:3: theme is "drak", which is not a theme`,
			mend: "did you mean dark? the choices are auto, dark, light, high-contrast, color-blind, terminal"},
		{name: "misspelled setting", text: "thema: dark\n", summary: `:1: there is no setting "thema"`,
			mend: "did you mean theme? the settings are theme, notify, title, progress, links"},
		{name: "nothing like it", text: "colours: many\n", summary: `:1: there is no setting "colours"`, mend: "the settings are theme, notify, title, progress, links"},
		{name: "keys", text: "keys:\n  pager: F4\n  trigger: [t, F5]\n  quit:\n", want: Settings{Keys: []Binding{{"pager", []string{"F4"}, "PATH:2"}, {"trigger", []string{"t", "F5"}, "PATH:3"}, {"quit", []string{}, "PATH:4"}}}},
		{name: "highlights", text: "highlight: [timeout, '/user=\\d+/']\n", want: Settings{Highlights: []Highlight{{"timeout", "PATH:1"}, {`/user=\d+/`, "PATH:1"}}}},
		{name: "one highlight", text: "highlight: timeout\n", want: Settings{Highlights: []Highlight{{"timeout", "PATH:1"}}}},
		{name: "a nested highlight", text: "highlight: {a: b}\n", summary: ":1: highlight is no list of texts", mend: "several"},
		{name: "keys that are none", text: "keys: F4\n", summary: ":1: keys lists no keys", mend: "pager: F4"},
		{name: "a nested key", text: "keys:\n  pager: {a: b}\n", summary: ":2: this is not a key", mend: "[t, F5]"},
		{name: "commands", text: "commands:\n- name: describe\n  key: D\n  run: kubectl describe pod $HONE_POD\n- {name: psql, run: psql, terminal: true, confirm: true}\n", want: Settings{Commands: []Command{
			{Name: "describe", Key: "D", Run: "kubectl describe pod $HONE_POD", Place: "PATH:2"}, {Name: "psql", Run: "psql", Terminal: true, Confirm: true, Place: "PATH:5"}}}},
		{name: "a command without what it runs", text: "commands:\n- name: x\n", summary: ":2: a command needs a name and what it runs", mend: "run: …"},
		{name: "a misspelled field", text: "commands:\n- name: x\n  rnu: y\n", summary: `:3: a command has no field "rnu"`, mend: "did you mean run?"},
		{name: "a wrong value", text: "commands:\n- name: x\n  terminal: maybe\n", summary: `:3: "maybe" is not a value of terminal`, mend: "true or false"},
		{name: "a name that is taken", text: "commands:\n- {name: x, run: a}\n- {name: x, run: b}\n", summary: `:3: a command is called "x" already`, mend: "another name"},
		{name: "twice", text: "theme: dark\ntheme: light\n", summary: "theme", mend: ""},
		{name: "a list", text: "theme: [dark, light]\n", summary: ":1: theme has more than one value", mend: "write a single word"},
		{name: "no mapping", text: "dark\n", summary: ":1: this is not a setting", mend: "theme: dark"},
		{name: "no YAML", text: "theme: \"dark\n", summary: "is not YAML", mend: "one setting in a line"},
		{name: "bad variable", env: map[string]string{ThemeVariable: "lihgt"}, summary: `HONE_THEME is "lihgt", which is not a theme`, mend: "did you mean light?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "screen.yaml")
			if tt.text != "" {
				if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Load(path, func(name string) string { return tt.env[name] })
			if tt.summary == "" {
				if err != nil {
					t.Fatal(err)
				}
				for i := range tt.want.Keys {
					tt.want.Keys[i].Place = strings.Replace(tt.want.Keys[i].Place, "PATH", path, 1)
				}
				for i := range tt.want.Highlights {
					tt.want.Highlights[i].Place = strings.Replace(tt.want.Highlights[i].Place, "PATH", path, 1)
				}
				for i := range tt.want.Commands {
					tt.want.Commands[i].Place = strings.Replace(tt.want.Commands[i].Place, "PATH", path, 1)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			p, ok := problem.Of(err)
			if !ok {
				t.Fatalf("%v is no problem", err)
			}
			if !strings.Contains(p.Summary, tt.summary) || !strings.Contains(p.Mend, tt.mend) {
				t.Errorf("%q, %q", p.Summary, p.Mend)
			}
			if !strings.Contains(p.Summary, path) && tt.env == nil {
				t.Errorf("%q does not name the file", p.Summary)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	_, err := Load(t.TempDir(), func(string) string { return "" }) // a folder
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "remove it") {
		t.Errorf("%v", err)
	}
}
