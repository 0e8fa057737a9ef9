package tiltfile

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// accepted is a parameter as a builtin declares it to unpack.
type accepted struct {
	name     string
	optional bool
	target   any
}

// parametersOf returns the parameters of a builtin; nothing for builtins that do not use Unpack.
func parametersOf(name string) (params []accepted, unpacks bool) {
	s := newState(context.Background(), "/Tiltfile", Options{Logger: logstore.Discard})
	pairs, unpacks := s.Takes(name, s.builtins()[name])
	optional := false // parameters after an optional one are optional too
	for i := 0; i < len(pairs); i += 2 {
		p := pairs[i].(string)
		bare := strings.TrimRight(p, "?")
		optional = optional || bare != p
		params = append(params, accepted{bare, optional, pairs[i+1]})
	}
	return params, unpacks
}

// builtinNames are the names of all builtins, sorted.
func builtinNames() []string {
	s := newState(context.Background(), "/Tiltfile", Options{Logger: logstore.Discard})
	return slices.Sorted(maps.Keys(s.builtins()))
}

// TestEveryBuiltinIsDocumented compares the language's documentation with the builtins that the interpreter registers.
func TestEveryBuiltinIsDocumented(t *testing.T) {
	for _, name := range builtinNames() {
		e := language.Lookup(name)
		if e == nil || e.Kind != language.Function {
			t.Errorf("%s: language/pages does not describe it as a function", name)
			continue
		}
		params, unpacks := parametersOf(name)
		compareParameters(t, name, e.Params, params, unpacks)
	}
	s := newState(context.Background(), "/Tiltfile", Options{})
	for name := range s.constants() {
		if language.Lookup(name) == nil {
			t.Errorf("%s: language/pages does not describe it", name)
		}
	}
	for name := range starlark.Universe {
		if language.Lookup(name) == nil {
			t.Errorf("%s: language/pages does not describe it", name)
		}
	}
}

func compareParameters(t *testing.T, name string, documented []language.Param, takes []accepted, unpacks bool) {
	t.Helper()
	documented = slices.DeleteFunc(slices.Clone(documented), language.Param.Mark)
	if !unpacks {
		if !slices.ContainsFunc(documented, func(p language.Param) bool { return p.Stars > 0 }) {
			t.Errorf("%s does not use Unpack, but is documented with a fixed number of parameters", name)
		}
		return
	}
	var want, got []string
	for _, p := range takes {
		want = append(want, fmt.Sprintf("%s optional=%v", p.name, p.optional))
	}
	for _, p := range documented {
		got = append(got, fmt.Sprintf("%s optional=%v", p.Name, !p.Required()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: parameters (-interpreter +documentation):\n%s", name, diff)
		return
	}
	for i, p := range takes {
		if types := typesOf(p.target); types != nil && !slices.Contains(types, plainType(documented[i])) {
			t.Errorf("%s: %s is documented as %s, but the interpreter takes one of %q", name, p.name, documented[i].Type, types)
		}
	}
}

// plainType is a parameter's type, with words and paths as str.
func plainType(p language.Param) string {
	if p.Words() != nil {
		return "str"
	}
	return strings.ReplaceAll(p.Type, "path", "str")
}

// typesOf returns the documented types that fit the variable in which a builtin stores an argument; nil if any type
// fits.
func typesOf(target any) []string {
	switch strings.ToLower(reflect.TypeOf(target).Elem().Name()) {
	case "string", "duration":
		return []string{"str"}
	case "bool", "optbool":
		return []string{"bool"}
	case "int", "optint":
		return []string{"int"}
	case "text":
		return []string{"str | blob", "str"}
	case "textlist":
		return []string{"str | list[str]", "list[str]"}
	case "textmap":
		return []string{"dict[str, str]"}
	case "argv":
		return []string{"str | list[str]"}
	case "probe":
		return []string{"probe"}
	case "links":
		return []string{"str | link | list[str | link]"}
	case "triggermode":
		return []string{"trigger_mode"}
	}
	return nil
}

// TestNothingElseIsDocumented finds entries for names that do not exist.
func TestNothingElseIsDocumented(t *testing.T) {
	s := newState(context.Background(), "/Tiltfile", Options{})
	for _, c := range language.Chapters() {
		for _, e := range c.Entries {
			if e.Kind == language.Method || strings.HasPrefix(e.Name, "__") {
				continue
			}
			if !defined(s.interp.Predeclared, e.Name) && !starlark.Universe.Has(e.Name) {
				t.Errorf("%s is documented, but does not exist", e.Name)
			}
		}
	}
}

// TestModulesAreDocumented checks that each member of a module is documented, since editors report other members as missing.
func TestModulesAreDocumented(t *testing.T) {
	s := newState(context.Background(), "/Tiltfile", Options{})
	for _, c := range language.Chapters() {
		for _, e := range c.Entries {
			if e.Kind != language.Module {
				continue
			}
			m, ok := valueOf(s.interp.Predeclared, e.Name).(starlark.HasAttrs)
			if !ok {
				t.Errorf("%s is not a module", e.Name)
				continue
			}
			var documented []string
			for _, member := range language.Members(e.Name) {
				documented = append(documented, strings.TrimPrefix(member.Name, e.Name+"."))
			}
			slices.Sort(documented)
			if diff := cmp.Diff(m.AttrNames(), documented); diff != "" {
				t.Errorf("members of %s (-interpreter +documentation):\n%s", e.Name, diff)
			}
		}
	}
}

// defined reports whether a dotted name has a value.
func defined(names starlark.StringDict, dotted string) bool { return valueOf(names, dotted) != nil }

// valueOf returns the value of a dotted name; nil if there is none.
func valueOf(names starlark.StringDict, dotted string) starlark.Value {
	first, rest, nested := strings.Cut(dotted, ".")
	v := names[first]
	for nested && v != nil {
		var name string
		name, rest, nested = strings.Cut(rest, ".")
		m, ok := v.(starlark.HasAttrs)
		if !ok {
			return nil
		}
		v, _ = m.Attr(name)
	}
	return v
}

// TestMethodsAreDocumented compares the documented methods with the methods of values.
func TestMethodsAreDocumented(t *testing.T) {
	dir := sampleFolder(t)
	s := newState(context.Background(), filepath.Join(dir, "Tiltfile"), Options{Logger: logstore.Discard})
	v, err := starlark.Call(s.Thread, s.interp.Predeclared["local_git_repo"], starlark.Tuple{starlark.String("repo")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	repo := v.(starlark.HasAttrs)
	for typ, v := range map[string]starlark.HasAttrs{
		"str": starlark.String(""), "list": starlark.NewList(nil), "dict": starlark.NewDict(0), "set": starlark.NewSet(0),
		"git.Repo": repo,
	} {
		var got []string
		for _, e := range language.Methods(typ) {
			got = append(got, e.Name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(v.AttrNames(), got); diff != "" {
			t.Errorf("methods of %s (-interpreter +documentation):\n%s", typ, diff)
		}
	}
}

// TestWholeLanguage checks that every name of the language that Tilt 0.37 defines is documented.
func TestWholeLanguage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "language.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(text)) {
		if language.Lookup(name) == nil {
			t.Errorf("%s: the language has it, language/pages does not", name)
		}
	}
}

// TestSharedKeywordsMean checks the table of other names against the parameters of functions.
func TestSharedKeywordsMean(t *testing.T) {
	used := map[string]bool{}
	for _, c := range language.Chapters() {
		for _, e := range c.Entries {
			for _, p := range e.Params {
				used[p.Name] = true
			}
		}
	}
	for other, name := range language.OtherNames {
		if !used[name] {
			t.Errorf("%s is another name of %s, which is not a parameter of any function", other, name)
		}
	}
}

// TestEveryBuiltinHasScenario finds builtins that no scenario calls.
func TestEveryBuiltinHasScenario(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`([\w.]+)\(`)
	called := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllSubmatch(text, -1) {
			called[string(m[1])] = true
		}
	}
	for _, name := range builtinNames() {
		if !called[name] {
			t.Errorf("no testdata/*.txtar calls %s", name)
		}
	}
}
