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

var update = flag.Bool("update", false, "write the generated pages")

const (
	module = "github.com/hone-dev/hone/"
	page   = "GRAPH.md"
)

// TestContracts makes the same check as every start of hone.
func TestContracts(t *testing.T) {
	for view, reporter := range map[store.Subscriber]store.Subscriber{hud.New(hud.Options{}): nil, &stream.Subscriber{}: cireport.New(io.Discard)} {
		subs := Subscribers(Parts{Server: server.New(server.Options{}), View: view, Report: reporter})
		contracts := make([]store.Contract, len(subs))
		for i, s := range subs {
			contracts[i] = s.Contract()
		}
		for _, err := range store.Verify(state.Schema, contracts) {
			t.Errorf("with %s: %v", view.Contract().Name, err)
		}
	}
}

// TestGraphPage keeps the page of subscribers and tables fresh.
func TestGraphPage(t *testing.T) {
	fresh(t, page, generated(Graph(hud.New(hud.Options{}))))
}

func generated(g store.Graph) []byte {
	var b bytes.Buffer
	b.WriteString("# Subscribers and tables\n\nEvery subscriber declares the tables that it reads and the actions that it emits. `hone graph` prints the same.\n")
	b.WriteString("\n| subscriber | does | reads | emits | talks to |\n|---|---|---|---|---|\n")
	for _, s := range g.Subscribers {
		var reads, emits []string
		for _, e := range g.Edges {
			switch {
			case e.To == s.Name && e.Kind == "holds":
				reads = append(reads, "**"+strings.TrimPrefix(e.From, "table:")+"**")
			case e.To == s.Name && e.Kind == "reads":
				reads = append(reads, strings.TrimPrefix(e.From, "table:"))
			case e.From == s.Name && e.Kind == "emits" && !slices.Contains(emits, e.Action):
				emits = append(emits, e.Action)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Name, s.Doc, strings.Join(reads, ", "), strings.Join(emits, ", "), strings.Join(s.Externals, ", "))
	}
	b.WriteString("\nTables in bold are held: an entry that is torn down stays until the subscriber has released it.\n")
	b.WriteString("\nA few subscribers call another one directly:\n\n| subscriber | calls | because |\n|---|---|---|\n")
	for _, s := range g.Subscribers {
		for _, call := range s.Calls {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Name, call.To, call.Doc)
		}
	}
	b.WriteString("\n| table | holds |\n|---|---|\n")
	for _, t := range g.Tables {
		fmt.Fprintf(&b, "| %s | %s |\n", t.Name, t.Doc)
	}
	b.WriteString("\n```mermaid\n")
	_ = g.Mermaid(&b)
	b.WriteString("```\n")
	return b.Bytes()
}

// TestGraphFormatsAgree checks that the three formats draw the same edges.
func TestGraphFormatsAgree(t *testing.T) {
	g := Graph(hud.New(hud.Options{}))
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
	arrows := regexp.MustCompile(`(?m)(-->|==>|-\.-|\.->)`)
	if n := len(arrows.FindAllString(mermaid.String(), -1)); n != len(pairs) {
		t.Errorf("mermaid has %d edges, want %d", n, len(pairs))
	}
}

// packages maps each package, by its path in the module, to the imports of its non-test files. The paths of our own packages are
// without the module.
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
