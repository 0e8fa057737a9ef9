package tiltfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// TestPagesKnowTheLanguage checks the pieces of Tiltfiles in the documentation that no test evaluates, in blocks and in running text: each
// can be parsed, and each function of the language that it calls exists and takes the arguments that are named.
func TestPagesKnowTheLanguage(t *testing.T) {
	pieces := 0
	root := filepath.Join("..", "..", "web", "docs")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || filepath.Base(filepath.Dir(path)) == "reference" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		loaded := map[string]bool{} // by a piece before
		for i, part := range strings.Split(string(text), "\n```python\n")[1:] {
			piece, _, _ := strings.Cut(part, "\n```")
			pieces++
			checkPiece(t, fmt.Sprintf("%s, piece %d", strings.TrimPrefix(path, root+"/"), i+1), piece, loaded)
		}
		for _, c := range callsOf(string(text)) {
			pieces++
			checkPiece(t, strings.TrimPrefix(path, root+"/"), c, loaded)
		}
		return nil
	})
	if err != nil || pieces == 0 {
		t.Fatalf("%d pieces: %v", pieces, err)
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	codeSpan = regexp.MustCompile("`([^`]+)`")
	call     = regexp.MustCompile(`(?s)^([a-z_]+=\[?)?[a-z_][a-z_0-9.]*\(.*\)\]?$`)
)

// callsOf returns the calls that stand in the running text of a page: `sync(…)`, `live_update=[sync(…)]`. "…" stands
// for any text.
func callsOf(page string) (out []string) {
	for _, span := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		if call.MatchString(span[1]) && !strings.HasPrefix(span[1], "load(") {
			out = append(out, strings.ReplaceAll(strings.ReplaceAll(span[1], "\n", " "), "…", "'…'"))
		}
	}
	return out
}

func checkPiece(t *testing.T, where, piece string, loaded map[string]bool) {
	t.Helper()
	f, err := dialect.Options.Parse(where, piece, 0)
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, piece)
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LoadStmt:
			for _, id := range n.To {
				loaded[id.Name] = true
			}
		case *syntax.CallExpr:
			name := calledName(n.Fn)
			if name == "" || loaded[name] {
				return true
			}
			e := language.Lookup(name)
			if e == nil {
				t.Errorf("%s: the language has no %s", where, name)
				return true
			}
			for _, a := range n.Args {
				if b, ok := a.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
					if id, ok := b.X.(*syntax.Ident); ok {
						if _, ok := e.Param(id.Name); !ok {
							t.Errorf("%s: %s takes no %s", where, name, id.Name)
						}
					}
				}
			}
		}
		return true
	})
}

// calledName returns the name of a called function; empty for a method of a value.
func calledName(fn syntax.Expr) string {
	switch fn := fn.(type) {
	case *syntax.Ident:
		return fn.Name
	case *syntax.DotExpr:
		if of := calledName(fn.X); of == "config" || of == "os" || of == "os.path" || of == "v1alpha1" {
			return of + "." + fn.Name.Name
		}
	}
	return ""
}
