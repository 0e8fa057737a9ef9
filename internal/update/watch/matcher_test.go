package watch

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func mustMatcher(t testing.TB, base string, patterns ...string) Matcher {
	t.Helper()
	m, err := NewMatcher([]model.Ignore{{Base: base, Patterns: patterns, Source: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMatcher(t *testing.T) {
	tests := []struct {
		name     string
		patterns []string
		out      []string // left out
		in       []string
		pruned   []string // folders left out as a whole
		entered  []string
	}{
		{
			name: "names at the top only", patterns: []string{"node_modules", "*.log"},
			out: []string{"/p/node_modules", "/p/node_modules/a/b", "/p/x.log"}, in: []string{"/p/a/node_modules", "/p/a/x.log", "/q/x.log", "/p"},
			pruned: []string{"/p/node_modules", "/p/node_modules/a"}, entered: []string{"/p", "/p/a"},
		},
		{
			name: "names anywhere", patterns: []string{"**/node_modules", "**/*.py[co]", "**/~*"},
			out:    []string{"/p/node_modules", "/p/a/node_modules/b", "/p/a/x.pyc", "/p/~x"},
			in:     []string{"/p/a/x.py"},
			pruned: []string{"/p/a/b/node_modules"}, entered: []string{"/p/a/b"},
		},
		{
			name: "exception", patterns: []string{"*", "!src/keep", "!*.md"},
			out: []string{"/p/a", "/p/src/x", "/p/b/c/d"}, in: []string{"/p/src/keep", "/p/src/keep/a", "/p/a.md"},
			pruned: []string{"/p/b", "/p/src/other"}, entered: []string{"/p", "/p/src", "/p/src/keep"},
		},
		{
			name: "only", patterns: []string{"**", "!web", "!lib/**/*.go"},
			out: []string{"/p/a", "/p/lib/x.c"}, in: []string{"/p/web/a", "/p/lib/x/y.go"},
			pruned: []string{"/p/a"}, entered: []string{"/p", "/p/web", "/p/lib", "/p/lib/deep/er"},
		},
		{
			name: "exception before the rule has no effect", patterns: []string{"!src/keep", "src"},
			out: []string{"/p/src/keep"}, pruned: []string{"/p/src", "/p/src/keep"},
		},
		{
			name: "content of a folder", patterns: []string{"out/**", "tmp/*", "!tmp/.gitkeep"},
			out: []string{"/p/out/a", "/p/tmp/x"}, in: []string{"/p/out", "/p/tmp/.gitkeep"},
			pruned: []string{"/p/out", "/p/out/a", "/p/tmp/x"}, entered: []string{"/p/tmp"},
		},
		{
			name: "parent matched again below an exception", patterns: []string{"a", "!a/b/c", "a/b"},
			out: []string{"/p/a/b/c"}, pruned: []string{"/p/a/b", "/p/a/x"}, entered: []string{"/p/a"},
		},
		{
			name: "absolute, slash first, blanks", patterns: []string{"/p/abs", " /top ", "! /top/keep"},
			out: []string{"/p/abs/x", "/p/top/a"}, in: []string{"/p/top/keep"},
		},
		{
			name: "outside the base", patterns: []string{"../q*/x", "../../r", "**/*.o", "!../q*/x/keep"},
			out: []string{"/qq/x/1", "/p/a/b.o"}, in: []string{"/qq/y", "/qq/b.o", "/qq/x/keep", "/p/r"},
		},
		{name: "nothing", patterns: []string{"", " "}, in: []string{"/p/a"}, entered: []string{"/p", "/p/a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustMatcher(t, "/p", tt.patterns...)
			check := func(what string, f func(string) bool, paths []string, want bool) {
				t.Helper()
				for _, p := range paths {
					if got := f(p); got != want {
						t.Errorf("%s(%q) = %v, want %v", what, p, got, want)
					}
				}
			}
			check("Matches", m.Matches, tt.out, true)
			check("Matches", m.Matches, tt.in, false)
			check("MatchesEntireDir", m.MatchesEntireDir, tt.pruned, true)
			check("MatchesEntireDir", m.MatchesEntireDir, tt.entered, false)
		})
	}
}

func TestMatcherUnion(t *testing.T) {
	m, err := NewMatcher([]model.Ignore{
		{Base: "/p", Patterns: []string{"a"}},
		{Base: "/p/b", Patterns: []string{"*", "!c"}},
		{Base: "/p", Patterns: []string{"!a"}},
		{Base: "/"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, p := range []string{"/p/a", "/p/b", "/p/b/x", "/p/b/c", "/p/c"} {
		got[p] = m.Matches(p)
	}
	want := map[string]bool{"/p/a": true, "/p/b": false, "/p/b/x": true, "/p/b/c": false, "/p/c": false}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMatcherBadPattern(t *testing.T) {
	for _, bad := range []string{"a[", "!", "[z-a]", "a\x00", "\xff"} {
		_, err := NewMatcher([]model.Ignore{{Base: "/p", Patterns: []string{"fine", bad}, Source: "/p/.dockerignore"}})
		p, ok := problem.Of(err)
		if !ok || !strings.Contains(p.Summary, bad) || !strings.Contains(p.Summary, "/p/.dockerignore") || p.Mend == "" {
			t.Errorf("pattern %q: got %#v, want a problem that names it, its source and a mend", bad, err)
		}
	}
}

func TestEphemeral(t *testing.T) {
	m := mustMatcher(t, "/p", Ephemeral...)
	for _, p := range []string{
		"/p/.git", "/p/.git/index", "/p/sub/.git/HEAD", "/p/.idea/workspace.xml", "/p/a/.main.go.swp", "/p/4913", "/p/a/x.go~",
		"/p/#x.go#", "/p/a/.#x.go", "/p/x.go___jb_tmp___", "/p/x.go___jb_old___", "/p/flymake_x.go", "/p/.x.kate-swp",
		"/p/a-go-tmp-umask", "/p/.x.swo", "/p/.x.swn", "/p/.x.swx",
	} {
		if !m.Matches(p) {
			t.Errorf("%s counts as a change", p)
		}
	}
	for _, p := range []string{"/p", "/p/.gitignore", "/p/.github/x", "/p/a.swf", "/p/x~y", "/p/#x", "/p/14913"} {
		if m.Matches(p) {
			t.Errorf("%s does not count as a change", p)
		}
	}
	for _, p := range []string{"/p/.git", "/p/a/.idea", "/p/.git/objects"} {
		if !m.MatchesEntireDir(p) {
			t.Errorf("%s is searched", p)
		}
	}
}

// FuzzMatcher compares the matcher with the library: both give the same answer for each path, and no path that is kept
// lies in a folder that is pruned.
func FuzzMatcher(f *testing.F) {
	for _, s := range [][2]string{
		{"node_modules\n!node_modules/keep\n**/*.md", "node_modules/keep/a.md"},
		{"a\n!a/b/c\na/b", "a/b/c"},
		{"**\n!x/**/y?\n*.go", "x/a/b/yz"},
		{"**/a*b*c\n!**/abc/d\n/x", "q/aXbYc/d"},
		{"*/b/*\n!*/b/[c-e]\n./f/../g", "a/b/d"},
		{"a/**\n!a/**/k\na/*/k\n*", "a/b/k/l"},
		{"!!x\n\\*y\n**z", "!x/z"},
		{"**/.idea/**\n**/*\n!.*", ".idea/a"},
		{"**\n!\ufeffx*\n.\n..x", "x/y"},
		{"a^*\n!b^\nc.d\n(e)|f$", "c.d/e"},
		// Found by fuzzing: characters that the library leaves unescaped, "**" within a part, blanks at the end.
		{"|*", "0"},
		{"**0/*", "00/0"},
		{"*/ /*", "0/0"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		path = strings.TrimPrefix(filepath.Clean(sep+path), sep)
		if path == "" || strings.ContainsAny(path, "\n\x00") || len(text) > 200 || len(path) > 200 {
			t.Skip()
		}
		patterns, err := ignorefile.ReadAll(strings.NewReader(text))
		if err != nil {
			t.Skip()
		}
		for _, p := range patterns {
			// The library takes ".." for a name, prints on the terminal about broken text, and trims twice.
			if strings.TrimSpace(strings.TrimPrefix(p, "!")) != strings.TrimPrefix(p, "!") {
				t.Skip()
			}
			if strings.HasPrefix(strings.TrimPrefix(p, "!"), "..") || strings.ToValidUTF8(p, "") != p || strings.Contains(p, "\x00") {
				t.Skip()
			}
		}
		oracle, err := patternmatcher.New(patterns)
		if err != nil {
			t.Skip()
		}
		m, err := NewMatcher([]model.Ignore{{Base: "/base/dir", Patterns: patterns}})
		if err != nil {
			if _, ok := problem.Of(err); !ok {
				t.Fatalf("not a problem: %v", err)
			}
			t.Skip()
		}
		pruned := ""
		for i := range len(path) + 1 {
			if i < len(path) && path[i] != filepath.Separator {
				continue
			}
			p := path[:i]
			want, err := oracle.MatchesOrParentMatches(p)
			if err != nil {
				t.Skip()
			}
			if got := m.Matches("/base/dir/" + p); got != want {
				t.Fatalf("patterns %q, path %q: got %v, the library says %v", patterns, p, got, want)
			}
			if pruned != "" && !want {
				t.Fatalf("patterns %q: folder %q is pruned, but %q is kept", patterns, pruned, p)
			}
			if m.MatchesEntireDir("/base/dir/" + p) {
				pruned = p
			} else if pruned != "" {
				t.Fatalf("patterns %q: folder %q is pruned, but %q is not", patterns, pruned, p)
			}
		}
	})
}

func BenchmarkMatcher(b *testing.B) {
	m := mustMatcher(b, "/p", append([]string{"node_modules", "**/*.pyc", "dist/*", "!dist/keep", ".env"}, Ephemeral...)...)
	for b.Loop() {
		m.Matches("/p/services/web/src/components/button.tsx")
	}
}
