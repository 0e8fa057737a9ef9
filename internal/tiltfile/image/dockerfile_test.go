package image

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

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

// baseImages is knownBaseImages without an evaluation. lookup returns the variables of the environment.
func baseImages(contents string, buildArgs map[string]*string, lookup func(string) string) []string {
	ast, err := parser.Parse(strings.NewReader(contents))
	if err != nil {
		return nil
	}
	return imagesIn(ast, buildArgs, lookup)
}
