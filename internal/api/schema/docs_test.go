package schema

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs.txt")

// documented are the packages whose types the API shows.
var documented = []string{"internal/api/tables", "internal/loop/state", "internal/loop/store", "internal/cli/answers", "internal/cli/up", "pkg/model", "pkg/api", "pkg/api/v1alpha1"}

// TestDocs checks that docs.txt matches the comments in the source.
func TestDocs(t *testing.T) {
	var lines []string
	for _, dir := range documented {
		lines = append(lines, comments(t, dir)...)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("docs.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(docsText, got); diff != "" {
		t.Errorf("docs.txt is stale, run make generate:\n%s", diff)
	}
}

func comments(t *testing.T, dir string) (lines []string) {
	names, err := filepath.Glob(filepath.Join("../../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	add := func(key string, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
				lines = append(lines, dir+"."+key+"\t"+text+"\n")
				return
			}
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				s := spec.(*ast.TypeSpec)
				fields, ok := s.Type.(*ast.StructType)
				if !ok || !s.Name.IsExported() {
					continue
				}
				add(s.Name.Name, s.Doc, g.Doc)
				for _, f := range fields.Fields.List {
					for _, n := range f.Names {
						if n.IsExported() {
							add(s.Name.Name+"."+n.Name, f.Doc, f.Comment)
						}
					}
				}
			}
		}
	}
	return lines
}
