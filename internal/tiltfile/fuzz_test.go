package tiltfile

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitYAML(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []document
	}{
		{"empty", "", nil},
		{"one", "a: 1\n", []document{{1, 1, "a: 1\n"}}},
		{"markers", "---\na: 1\n---\nb: 2\n", []document{{1, 1, "\na: 1\n"}, {2, 3, "\nb: 2\n"}}},
		{"on the marker's line", "--- {a: 1}\n", []document{{1, 1, " {a: 1}\n"}}},
		{"comments and blanks", "# x\n---\n\n---\n# y\n---\na: 1", []document{{1, 6, "\na: 1"}}},
		{"end marker", "a: 1\n...\n---\nb: 2\n", []document{{1, 1, "a: 1\n"}, {2, 3, "\nb: 2\n"}}},
		{"directive", "%YAML 1.2\n---\na: 1\n", []document{{1, 2, "\na: 1\n"}}},
		{"not a marker", "a: |\n  ---\n----\n", []document{{1, 1, "a: |\n  ---\n----\n"}}},
		{"windows", "\ufeffa: 1\r\n---\r\nb: 2\r\n", []document{{1, 1, "a: 1\r\n"}, {2, 2, "\r\nb: 2\r\n"}}},
	} {
		if diff := cmp.Diff(c.want, splitYAML(c.in), cmp.AllowUnexported(document{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzSplitYAML(f *testing.F) {
	for _, s := range []string{"a: 1\n---\nb: 2\n", "---\n...\n", "%YAML 1.2\n--- x\n", "\ufeff# c\n", "apiVersion: v1\nkind: List\nitems:\n- kind: X\n", "a: &x [*x]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		last := 0
		for i, d := range splitYAML(in) {
			if d.index != i+1 || d.line < max(1, last) || !strings.Contains(in, d.text) {
				t.Fatalf("document %d of %q: %+v", i, in, d)
			}
			last = d.line
			data, err := d.json("f")
			if err == nil && !json.Valid(data) {
				t.Fatalf("%q gave invalid JSON %q", d.text, data)
			}
		}
		objs, err := parseObjects(in, "f")
		for _, o := range objs {
			if err == nil && (o.Kind == "" || o.Name == "" || !json.Valid([]byte(o.JSON))) {
				t.Fatalf("%q gave %+v", in, o)
			}
		}
	})
}

func FuzzBaseImages(f *testing.F) {
	for _, s := range []string{"FROM a AS b\nFROM b\nCOPY --from=c x y\n", "ARG X=a\nFROM ${X:-b}\n", "# escape=`\nFROM a\n", "RUN --mount=from=x,target=/ <<EOF\nFROM y\nEOF\n", "FROM", "ARG"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, ref := range baseImages(in, map[string]*string{"X": nil}, func(string) string { return "" }) {
			if ref == "" || ref == "scratch" {
				t.Fatalf("%q gave %q", in, ref)
			}
		}
	})
}

func FuzzConfig(f *testing.F) {
	f.Add(`{"s": "x", "l": ["a"], "b": true, "o": {"a": [1]}}`, "--s=x --l a -b pos --o {}")
	f.Add(`[]`, "-- --s")
	f.Add(`{"s": 1}`, "--b=maybe --s")
	f.Fuzz(func(t *testing.T, file, args string) {
		flags := configFlags{positional: "p", order: []string{"s", "l", "b", "o", "p"}, defs: map[string]*flagDef{
			"s": {name: "s", kind: kindString}, "l": {name: "l", kind: kindStringList}, "b": {name: "b", kind: kindBool},
			"o": {name: "o", kind: kindObject}, "p": {name: "p", kind: kindStringList},
		}}
		for _, read := range []func() (map[string]any, error){
			func() (map[string]any, error) { return flags.fromFile([]byte(file)) },
			func() (map[string]any, error) { return flags.fromArgs(strings.Fields(args)) },
		} {
			values, err := read()
			if err != nil {
				continue
			}
			for name, v := range values {
				if flags.defs[name] == nil {
					t.Fatalf("unknown setting %q", name)
				}
				if _, ok := flags.defs[name].convert(v); !ok {
					t.Fatalf("setting %q has type %v", name, reflect.TypeOf(v))
				}
				if _, err := toStarlark(v); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestBaseImages(t *testing.T) {
	given := "given"
	lookup := func(name string) string { return map[string]string{"ENV": "fromenv"}[name] }
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"plain", "FROM alpine:3\n", []string{"alpine:3"}},
		{"platform", "FROM --platform=$BUILDPLATFORM golang AS build\nFROM scratch\nCOPY --from=build / /\n", []string{"golang"}},
		{"stage by number", "FROM a\nFROM b\nCOPY --from=0 x y\nCOPY --from=7 x y\n", []string{"a", "b", "7"}},
		{"args", "ARG A=x\nARG G=no\nARG ENV\nFROM ${A}:$G\nFROM $ENV\nFROM ${NONE:-def}\n", []string{"x:given", "fromenv", "def"}},
		{"arg of arg", "ARG T=1\nARG I=img:${T}\nFROM $I\n", []string{"img:1"}},
		{"arg of an earlier stage", "FROM a\nARG B=base\nFROM ${B}\nARG G\nFROM $G\n", []string{"a", "base", "given"}},
		{"stages leave global args alone", "ARG B=base\nFROM a\nARG B=x\nCOPY --from=$B / /\nFROM $B\n", []string{"a", "x", "base"}},
		{"redeclared in a stage", "ARG B=base\nFROM a\nARG B\nRUN --mount=from=$B,target=/b x\n", []string{"a", "base"}},
		{"continuation", "FROM \\\n  a\n", []string{"a"}},
		{"lower case", "from a as B\nfrom b\n", []string{"a"}},
		{"twice", "FROM a\nFROM a\n", []string{"a"}},
		{"heredoc", "FROM a\nRUN <<EOF\nFROM b\nEOF\n", []string{"a"}},
		{"unreadable", "FROM a\nRUN <<EOF\n", nil},
		{"empty", "", nil},
	} {
		got := baseImages(c.in, map[string]*string{"G": &given, "ENV": nil}, lookup)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
