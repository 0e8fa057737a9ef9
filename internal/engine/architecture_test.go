package engine

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/server"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

var update = flag.Bool("update", false, "write the generated part of internal/README.md")

const (
	module = "github.com/hone-dev/hone/"
	page   = "../README.md"
)

// TestContracts is the check that every start of hone makes.
func TestContracts(t *testing.T) {
	for view, reporter := range map[store.Subscriber]store.Subscriber{hud.New(hud.Options{}): nil, &stream.Subscriber{}: cireport.New(io.Discard)} {
		subs := Subscribers(Parts{Server: server.New(server.Options{}), View: view, Report: reporter, Terminals: hud.NewTerminals(hud.TerminalsOptions{})})
		contracts := make([]store.Contract, len(subs))
		for i, s := range subs {
			contracts[i] = s.Contract()
		}
		for _, err := range store.Verify(state.Schema, contracts) {
			t.Errorf("with %s: %v", view.Contract().Name, err)
		}
	}
}

// TestArchitecturePage keeps the generated part of internal/README.md fresh.
func TestArchitecturePage(t *testing.T) {
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- begin generated: hone graph -->\n"), []byte("<!-- end generated -->")
	i, j := bytes.Index(want, begin), bytes.Index(want, end)
	if i < 0 || j < i {
		t.Fatal("the markers are missing")
	}
	got := slices.Concat(want[:i], begin, generated(Graph(hud.New(hud.Options{}), hud.NewTerminals(hud.TerminalsOptions{}))), want[j:])
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("internal/README.md is stale, run make generate:\n%s", diff)
	}
}

func generated(g store.Graph) []byte {
	var b bytes.Buffer
	b.WriteString("\n| subscriber | does | reads | emits | talks to |\n|---|---|---|---|---|\n")
	for _, s := range g.Subscribers {
		var reads, emits []string
		for _, e := range g.Edges {
			switch {
			case e.To == s.Name && e.Kind == "holds":
				reads = append(reads, "**"+strings.TrimPrefix(e.From, "table:")+"**")
			case e.To == s.Name:
				reads = append(reads, strings.TrimPrefix(e.From, "table:"))
			case e.From == s.Name && e.Kind == "emits" && !slices.Contains(emits, e.Action):
				emits = append(emits, e.Action)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Name, s.Doc, strings.Join(reads, ", "), strings.Join(emits, ", "), strings.Join(s.Externals, ", "))
	}
	b.WriteString("\nTables in bold are held: an entry that is torn down stays until the subscriber has let go of it.\n")
	b.WriteString("\n| table | holds |\n|---|---|\n")
	for _, t := range g.Tables {
		fmt.Fprintf(&b, "| %s | %s |\n", t.Name, t.Doc)
	}
	b.WriteString("\n```mermaid\n")
	_ = g.Mermaid(&b)
	b.WriteString("```\n\n")
	return b.Bytes()
}

// TestGraphFormatsAgree checks that the three formats draw the same edges.
func TestGraphFormatsAgree(t *testing.T) {
	g := Graph(hud.New(hud.Options{}), hud.NewTerminals(hud.TerminalsOptions{}))
	var js, dot, mermaid bytes.Buffer
	for _, err := range []error{g.JSON(&js), g.Dot(&dot), g.Mermaid(&mermaid)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var back store.Graph
	if err := json.Unmarshal(js.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g, back); diff != "" {
		t.Errorf("JSON does not hold the graph:\n%s", diff)
	}
	pairs := map[string]bool{}
	for _, e := range g.Edges {
		pairs[e.From+" -> "+e.To] = true
	}
	if n := strings.Count(dot.String(), " -> "); n != len(pairs) {
		t.Errorf("dot has %d edges, want %d", n, len(pairs))
	}
	arrows := regexp.MustCompile(`(?m)(-->|==>|-\.-)`)
	if n := len(arrows.FindAllString(mermaid.String(), -1)); n != len(pairs) {
		t.Errorf("mermaid has %d edges, want %d", n, len(pairs))
	}
}

// rule forbids packages whose path matches in to import what matches not, except by packages that match unless.
type rule struct {
	in, not, unless string
	because         string
}

var rules = []rule{
	{in: `^pkg/`, not: `^internal/`, because: "pkg is what others may import: it stands on nothing of ours"},
	{in: `^internal/(problem|logstore)$`, not: `^internal/(?!problem)`, because: "the bottom of the tree"},
	{in: `^internal/(store|state)$`, not: `^internal/(k8s|docker|watch|process|compose|build|deploy|liveupdate|tiltfile|portforward|podlogs|subscribers|hud|server|engine|cli|buildanddeploy|buildcontrol)`,
		because: "the store knows no client and no capability"},
	{in: `^internal/buildcontrol$`, not: `^internal/(?!state$|store$)`, because: "deciding is pure: it reads a snapshot, nothing else"},
	{in: `^internal/(k8s|docker|watch|process|build|deploy|liveupdate|tiltfile|compose|extension|portforward|podlogs|buildanddeploy|session|terminal|client|objects|editor)(/|$)`,
		not: `^internal/(store|state|buildcontrol|subscribers|hud|server|engine|cli)(/|$)`, because: "clients and capabilities know nothing of the store"},
	{in: `^internal/(k8s|docker|watch|process|compose)(/|$)`, not: `^internal/(build|deploy|liveupdate|tiltfile|portforward|podlogs|buildanddeploy)(/|$)`,
		because: "clients stand below capabilities"},
	{in: `^internal/subscribers/`, not: `^internal/(subscribers|hud|server|engine|cli)/?`, because: "subscribers meet in the store only"},
	{in: `^internal/(hud|server|kinds|report)(/|$)`, not: `^internal/(k8s|docker|watch|process|compose|build|deploy|liveupdate|tiltfile|portforward|podlogs|subscribers|engine|cli|buildanddeploy)(/|$)`,
		because: "what shows the session reads snapshots and dispatches actions, nothing more"},
	{in: `^internal/`, not: `^internal/cli$`, because: "the command line is the top"},
	{in: `.`, not: `^k8s\.io/client-go`, unless: `^internal/(k8s|deploy|objects)(/|$)|^internal/(buildanddeploy|client)$`, because: "client-go stops at its wrapper, and at the clients of the session's own API, which speaks the same way"},
	{in: `.`, not: `^github\.com/docker/docker`, unless: `^internal/docker(/|$)`, because: "the Docker client stops at its wrapper"},
	{in: `.`, not: `^github\.com/(rivo/tview|gdamore/tcell)`, unless: `^internal/hud(/screen)?$`, because: "the terminal library stops at the screen"},
	{in: `.`, not: `^(github\.com/compose-spec|go\.yaml\.in/yaml/v4)`, unless: `^internal/compose$`, because: "the Compose library stops at its wrapper"},
	{in: `.`, not: `^go\.starlark\.net`, unless: `^internal/(tiltfile|lsp)$`, because: "Starlark stops at the interpreter, and at what reads Tiltfiles for editors"},
	{in: `.`, not: `^github\.com/bazelbuild`, unless: `^internal/lsp$`, because: "the formatter stops at its wrapper"},
	{in: `^internal/(language|lsp)$`, not: `^internal/(?!(language|extension)$)`, because: "what editors are told is known without the interpreter and without a session"},
	{in: `^cmd/synclet`, not: `\.`, because: "the synclet is the standard library only"},
}

// TestImports holds the directions in which imports point.
func TestImports(t *testing.T) {
	for pkg, imports := range packages(t) {
		for _, r := range rules {
			if !matches(r.in, pkg) || r.unless != "" && matches(r.unless, pkg) {
				continue
			}
			for _, im := range imports {
				if im != pkg && matches(r.not, im) {
					t.Errorf("%s imports %s: %s", pkg, im, r.because)
				}
			}
		}
	}
}

// matches is regexp matching with one lookahead, "^prefix(?!a|b)", which Go's regexp lacks.
func matches(pattern, s string) bool {
	if i := strings.Index(pattern, "(?!"); i >= 0 {
		prefix, rest := pattern[:i], strings.TrimSuffix(pattern[i+3:], ")")
		loc := regexp.MustCompile(prefix).FindStringIndex(s)
		return loc != nil && !regexp.MustCompile(`^(`+rest+`)`).MatchString(s[loc[1]:])
	}
	return regexp.MustCompile(pattern).MatchString(s)
}

// packages maps each package, by its path in the module, to what its non-test files import; our own without the module.
func packages(t *testing.T) map[string][]string {
	out := map[string][]string{}
	walk(t, func(dir, file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			out[dir] = append(out[dir], strings.TrimPrefix(p, module))
		}
	})
	return out
}

// walk visits every non-test Go file of the module.
func walk(t *testing.T, visit func(dir, file string)) {
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go") {
				rel, err := filepath.Rel(root, filepath.Dir(p))
				if err != nil {
					return err
				}
				visit(filepath.ToSlash(rel), p)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackageDocs wants exactly one package comment per package, which starts in the usual way.
func TestPackageDocs(t *testing.T) {
	docs := map[string]int{}
	walk(t, func(dir, file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		docs[dir] += 0
		if f.Doc == nil || strings.HasPrefix(f.Doc.Text(), "Code generated") {
			return
		}
		docs[dir]++
		want := "Package " + path.Base(dir) + " "
		if f.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		if !strings.HasPrefix(f.Doc.Text(), want) {
			t.Errorf("%s: the package comment does not start with %q", file, want)
		}
	})
	for dir, n := range docs {
		if n != 1 {
			t.Errorf("%s has %d package comments, want 1", dir, n)
		}
	}
}

// TestReadmeNamesPackages checks that internal/README.md names every package below internal, and none that is gone.
func TestReadmeNamesPackages(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| ((?:`[a-z0-9]+`(?:, )?)+) \\|").FindAllSubmatch(text, -1) {
		for _, name := range regexp.MustCompile("`([a-z0-9]+)`").FindAllSubmatch(row[1], -1) {
			named[string(name[1])] = true
		}
	}
	there := map[string]bool{}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			there[e.Name()] = true
		}
	}
	if diff := cmp.Diff(there, named); diff != "" {
		t.Errorf("packages (-there +named):\n%s", diff)
	}
}
