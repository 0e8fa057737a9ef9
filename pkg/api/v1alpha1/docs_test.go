package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestFieldsAreDocumented checks that every exported type and each of its fields has a sentence, which hone explain prints.
func TestFieldsAreDocumented(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.TypeSpec)
				body, ok := s.Type.(*ast.StructType)
				if !ok || !s.Name.IsExported() {
					continue
				}
				if !sentence(d.Doc.Text()) && !sentence(s.Doc.Text()) {
					t.Errorf("%s: %s has no sentence", name, s.Name)
				}
				for _, f := range body.Fields.List {
					for _, field := range f.Names {
						fields++
						if field.IsExported() && !sentence(f.Doc.Text()) {
							t.Errorf("%s: %s.%s has no sentence", name, s.Name, field)
						}
					}
				}
			}
			return false
		})
	}
	if fields < 300 {
		t.Errorf("only %d fields were found", fields)
	}
}

// sentence reports whether a comment is a sentence.
func sentence(comment string) bool {
	text := strings.TrimSpace(comment)
	return strings.Contains(text, " ") && strings.HasSuffix(text, ".")
}
