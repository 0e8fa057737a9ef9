package screen

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logquery"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/hud/settings"
)

// plainKey matches the names of keys that are pressed alone, and of Ctrl with a letter or sign.
var plainKey = regexp.MustCompile(`^(Ctrl-)?[^-]$|^[^-]+$`)

// keyNames are the keys that have names, by the names in small letters.
var keyNames = func() map[string]key {
	names := map[string]key{"space": {letter: ' '}, "up": {named: tcell.KeyUp}, "down": {named: tcell.KeyDown}, "left": {named: tcell.KeyLeft}, "right": {named: tcell.KeyRight}}
	for k, name := range tcell.KeyNames {
		if plainKey.MatchString(name) {
			names[strings.ToLower(name)] = key{named: k}
		}
	}
	names["backspace"] = key{named: tcell.KeyBackspace2}
	return names
}()

const keyForms = "a key is a letter or sign, Ctrl-A to Ctrl-Z, F1 to F12, Enter, Tab, Esc, Space, Up, Down, Left, Right, PgUp, PgDn, Home, End, Insert or Delete"

// parseKey returns the key that a text names; ok is false if there is none.
func parseKey(s string) (k key, ok bool) {
	if r, size := utf8.DecodeRuneInString(s); size == len(s) && unicode.IsGraphic(r) && r != ' ' {
		return key{letter: r}, r != utf8.RuneError
	}
	k, ok = keyNames[strings.ToLower(strings.ReplaceAll(s, "+", "-"))]
	return k, ok
}

// remap returns the verbs with the keys that the user has chosen, and the user's commands as verbs. wrong are the settings that
// cannot be followed.
func remap(all []verb, s settings.Settings) (verbs []verb, wrong []error) {
	verbs = slices.Clone(all)
	refuse := func(place, what, mend string) { wrong = append(wrong, problem.New(place+": "+what, mend)) }
	parse := func(place, text string) []key {
		k, ok := parseKey(text)
		if !ok {
			names := slices.Sorted(maps.Keys(keyNames))
			refuse(place, fmt.Sprintf("%q is not a key", text), suggest.Mend(strings.ToLower(text), names, keyForms))
			return nil
		}
		return []key{k}
	}
	places := map[string]string{} // of the settings of verbs
	for _, b := range s.Keys {
		i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == b.Verb })
		if i < 0 {
			var names []string
			for _, v := range all {
				names = append(names, v.name)
			}
			refuse(b.Place, fmt.Sprintf("no verb is called %q", b.Verb), suggest.Mend(b.Verb, names, "the palette, key : on the screen, lists the verbs"))
			continue
		}
		verbs[i].keys = nil
		for _, text := range b.Keys {
			verbs[i].keys = append(verbs[i].keys, parse(b.Place, text)...)
		}
		places[b.Verb] = b.Place
	}
	for _, c := range s.Commands {
		v := verb{name: c.Name, in: inActing, help: "runs " + c.Run, do: func(u *ui) { u.runCommand(c) }}
		if c.Key != "" {
			v.keys = parse(c.Place, c.Key)
		}
		places[c.Name] = c.Place
		verbs = append(verbs, v)
	}
	for _, v := range verbs {
		for _, o := range verbs {
			place, chosen := places[v.name]
			if !chosen || v.name == o.name || v.in&o.in == 0 {
				continue
			}
			for _, k := range v.keys {
				if slices.Contains(o.keys, k) {
					refuse(place, fmt.Sprintf("the key %s of %s belongs to %s already", k, v.name, o.name), "choose another key, or give "+o.name+" another one under keys")
				}
			}
		}
	}
	if quit := slices.IndexFunc(verbs, func(v verb) bool { return v.name == "quit" }); quit >= 0 && len(verbs[quit].keys) == 0 {
		refuse(places["quit"], "quit has no key", "give it one")
	}
	return verbs, wrong
}

// Check returns the faults in the keys, commands and highlights of settings as a problem; nil if there are none.
func Check(s settings.Settings) error {
	_, wrong := remap(verbs(Options{Ask: nothing, Suspend: func(context.Context) error { return nil }}), s)
	for _, h := range s.Highlights {
		if _, err := logquery.Pattern(h.Text); err != nil {
			wrong = append(wrong, problem.Wrap(err, h.Place+": "+h.Text+" cannot be highlighted", "write a text or /expression/"))
		}
	}
	if len(wrong) > 0 {
		return wrong[0]
	}
	return nil
}

// highlights returns the patterns that stand out in logs. Those that this version cannot read are left out.
func highlights(s settings.Settings) (out []logquery.Query) {
	for _, h := range s.Highlights {
		if terms, err := logquery.Pattern(h.Text); err == nil && !terms.Empty() {
			out = append(out, terms)
		}
	}
	return out
}

// verbsFor returns the verbs of a screen. Settings that cannot be followed are left out: another version may have written them.
func verbsFor(o Options) []verb {
	known := o.Settings
	for {
		vs, wrong := remap(verbs(o), known)
		if len(wrong) == 0 {
			return vs
		}
		if len(known.Keys)+len(known.Commands) == 0 {
			return verbs(o)
		}
		known = without(o, known)
	}
}

// without leaves out the settings that are wrong on their own, or if none is, the last one.
func without(o Options, s settings.Settings) settings.Settings {
	all := verbs(o)
	fits := func(one settings.Settings) bool {
		_, wrong := remap(all, one)
		return len(wrong) == 0
	}
	out := s
	out.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(b settings.Binding) bool {
		return !slices.ContainsFunc(all, func(v verb) bool { return v.name == b.Verb })
	})
	if len(out.Keys) == len(s.Keys) {
		out.Commands = slices.DeleteFunc(slices.Clone(s.Commands), func(c settings.Command) bool { return !fits(settings.Settings{Commands: []settings.Command{c}}) })
	}
	switch {
	case len(out.Keys)+len(out.Commands) < len(s.Keys)+len(s.Commands):
	case len(out.Keys) > 0:
		out.Keys = out.Keys[:len(out.Keys)-1]
	default:
		out.Commands = out.Commands[:len(out.Commands)-1]
	}
	return out
}
