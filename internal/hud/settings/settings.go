package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"go.yaml.in/yaml/v4"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
)

// Theme is the name of a set of colours.
type Theme string

// The themes.
const (
	// Auto is Dark or Light as soon as the background of the terminal is known, and else Terminal.
	Auto         Theme = "auto"
	Dark         Theme = "dark"
	Light        Theme = "light"
	HighContrast Theme = "high-contrast"
	ColorBlind   Theme = "color-blind"
	// Terminal uses the terminal's own sixteen colours.
	Terminal Theme = "terminal"
)

// Themes are the names of all themes.
var Themes = []Theme{Auto, Dark, Light, HighContrast, ColorBlind, Terminal}

// Notify selects how messages reach a user who looks elsewhere.
type Notify string

// The ways. NotifyAuto is the best that the terminal is known to have, and NotifyOff in CI.
const (
	NotifyAuto   Notify = "auto"
	NotifyOff    Notify = "off"
	NotifyBell   Notify = "bell"
	NotifyOSC9   Notify = "osc9"
	NotifyOSC777 Notify = "osc777"
)

var notifies = []Notify{NotifyAuto, NotifyOff, NotifyBell, NotifyOSC9, NotifyOSC777}

// Settings are the user's choices. The zero value has all defaults.
type Settings struct {
	// Theme is empty for Auto, and Notify for NotifyAuto.
	Theme  Theme
	Notify Notify
	// NoLinks leaves out links; NoTitle and NoProgress leave the title of the terminal and its progress alone.
	NoLinks    bool
	NoTitle    bool
	NoProgress bool
	// Keys and Commands are as the file has them: the screen knows the names that they may use.
	Keys []Binding
	// Highlights are texts, or expressions between slashes, that stand out in logs.
	Highlights []Highlight
	Commands   []Command
}

// The variables of the environment that win over the file.
const (
	ThemeVariable  = "HONE_THEME"
	NotifyVariable = "HONE_NOTIFY"
)

// Path returns where the file is.
func Path() string { return filepath.Join(xdg.ConfigHome, "hone", "screen.yaml") }

// Load reads the file at a path, which need not exist, and the environment. An error that the user can mend is a problem; it
// names the line.
func Load(path string, getenv func(string) string) (Settings, error) {
	var s Settings
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, problem.Wrap(fmt.Errorf("read the settings of the screen: %w", err), "the settings of the screen cannot be read", "make "+path+" readable, or remove it")
	}
	if err := s.parse(path, b); err != nil {
		return s, err
	}
	for _, v := range []struct{ variable, setting string }{{ThemeVariable, "theme"}, {NotifyVariable, "notify"}} {
		value := getenv(v.variable)
		if value == "" {
			continue
		}
		if why := settings[index(v.setting)].set(&s, value); why != nil {
			return s, problem.New(fmt.Sprintf("%s is %q, which is %s", v.variable, value, why.what), why.mend)
		}
	}
	if cmp.Or(s.Notify, NotifyAuto) == NotifyAuto && inCI(getenv) {
		s.Notify = NotifyOff
	}
	return s, nil
}

// inCI reports whether the environment says that no person watches.
func inCI(getenv func(string) string) bool {
	ci := getenv("CI")
	return ci != "" && ci != "false"
}

// setting is a line of the file.
type setting struct {
	name string
	set  func(*Settings, string) *refusal
}

// refusal is why a value is not taken.
type refusal struct{ what, mend string }

// fault is a place of the file that is wrong.
type fault struct {
	at         *yaml.Node
	what, mend string
}

var settings = []setting{
	{"theme", func(s *Settings, v string) *refusal { return choose(&s.Theme, v, Themes, "a theme") }},
	{"notify", func(s *Settings, v string) *refusal { return choose(&s.Notify, v, notifies, "a way to notify") }},
	{"title", func(s *Settings, v string) *refusal { return off(&s.NoTitle, v) }},
	{"progress", func(s *Settings, v string) *refusal { return off(&s.NoProgress, v) }},
	{"links", func(s *Settings, v string) *refusal { return off(&s.NoLinks, v) }},
}

func index(name string) int {
	return slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
}

// choose takes one of some values, regardless of case, separators, and the spelling of colour.
func choose[T ~string](to *T, value string, from []T, kind string) *refusal {
	plain := func(s string) string {
		return strings.ReplaceAll(strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s)), "colour", "color")
	}
	names := make([]string, len(from))
	for i, v := range from {
		if names[i] = string(v); plain(value) == plain(names[i]) {
			*to = v
			return nil
		}
	}
	return &refusal{"not " + kind, suggest.Mend(value, names, "the choices are "+strings.Join(names, ", "))}
}

// off reads a switch that is on by default; to becomes true if it is off.
func off(to *bool, value string) *refusal {
	switch strings.ToLower(value) {
	case "true", "on", "yes":
		*to = false
	case "false", "off", "no":
		*to = true
	default:
		return &refusal{"neither on nor off", "write on or off"}
	}
	return nil
}

// parse takes in the text of the file.
func (s *Settings) parse(path string, text []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return problem.Wrap(err, path+" is not YAML", "write one setting in a line, such as theme: dark")
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	bad := func(n *yaml.Node, what, mend string) error {
		return problem.New(fmt.Sprintf("%s:%d: %s", path, n.Line, what), mend)
	}
	if root.Kind != yaml.MappingNode {
		if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
			return nil
		}
		return bad(root, "this is not a setting", "write one setting in a line, such as theme: dark")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		at := index(key.Value)
		switch {
		case seen[key.Value]:
			return bad(key, key.Value+" is set twice", "remove one of the lines")
		case key.Value == "keys" || key.Value == "commands" || key.Value == "highlight":
			seen[key.Value] = true
			take := map[string]func(string, *yaml.Node) *fault{"keys": s.parseKeys, "commands": s.parseCommands, "highlight": s.parseHighlights}[key.Value]
			if f := take(path, value); f != nil {
				return bad(f.at, f.what, f.mend)
			}
			continue
		case at < 0:
			names := make([]string, 0, len(settings)+2)
			for _, s := range settings {
				names = append(names, s.name)
			}
			names = append(names, "keys", "commands", "highlight")
			return bad(key, fmt.Sprintf("there is no setting %q", key.Value), suggest.Mend(key.Value, names, "the settings are "+strings.Join(names, ", ")))
		case value.Kind != yaml.ScalarNode:
			return bad(value, key.Value+" has more than one value", "write a single word")
		}
		seen[key.Value] = true
		if why := settings[at].set(s, value.Value); why != nil {
			return bad(value, fmt.Sprintf("%s is %q, which is %s", key.Value, value.Value, why.what), why.mend)
		}
	}
	return nil
}
