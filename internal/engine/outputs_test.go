package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path"
	"reflect"
	"slices"
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

// TestOutputsAreDispatched compares the actions that subscribers declare with those that their code makes, in their own
// package and in the packages of their wing that it uses. The store refuses an action that was not declared; a declared
// action that is never made is a false arrow in the graph.
func TestOutputsAreDispatched(t *testing.T) {
	sources := parsed(t)
	helpers := map[string][]string{}
	for _, pkg := range []string{"internal/loop/state", "internal/loop/buildcontrol", "internal/loop/intent"} {
		helpersOf(pkg, sources[pkg], helpers)
	}
	subs := Subscribers(Parts{Server: server.New(server.Options{}), View: hud.New(hud.Options{}), Report: cireport.New(io.Discard)})
	for _, sub := range append(subs, &stream.Subscriber{}) {
		declared := map[string]bool{}
		for _, o := range sub.Contract().Outputs {
			declared[o.Action.String()] = true
		}
		typ := reflect.TypeOf(sub)
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		pkg := strings.TrimPrefix(typ.PkgPath(), module)
		made := map[string]bool{}
		makes(sources, helpers, pkg, typ.Name(), made, map[string]bool{})
		if diff := cmp.Diff(names(declared), names(made)); diff != "" {
			t.Errorf("%s (-declared +made in %s):\n%s", sub.Contract().Name, pkg, diff)
		}
	}
}

func names(set map[string]bool) []string {
	out := []string{}
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// parsed returns the files of every package that are not tests.
func parsed(t *testing.T) map[string][]*ast.File {
	out := map[string][]*ast.File{}
	walk(t, func(dir, file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out[dir] = append(out[dir], f)
	})
	return out
}

// helpersOf adds the actions that functions, and methods of types, of a package of the loop return: by the name of the function or
// of the type, with the package's name in front.
func helpersOf(pkg string, files []*ast.File, out map[string][]string) {
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Type.Results == nil || !slices.ContainsFunc(fn.Type.Results.List, func(r *ast.Field) bool { return isAction(r.Type) }) {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = receiver(fn.Recv.List[0].Type)
			}
			name = path.Base(pkg) + "." + name
			for _, r := range fn.Type.Results.List {
				if accepted(lastName(r.Type)) {
					out[name] = append(out[name], lastName(r.Type))
				}
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if lit, ok := n.(*ast.CompositeLit); ok && accepted(lastName(lit.Type)) {
					out[name] = append(out[name], lastName(lit.Type))
				}
				return true
			})
		}
	}
}

// isAction reports whether a type is store.Action, an action, or a slice of one.
func isAction(e ast.Expr) bool {
	if a, ok := e.(*ast.ArrayType); ok {
		e = a.Elt
	}
	return lastName(e) == "Action" || accepted(lastName(e))
}

// lastName returns a name without its package.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// accepted reports whether a table accepts actions of a type of package state.
func accepted(name string) bool {
	return slices.ContainsFunc(state.Schema.Actions(), func(a store.ActionType) bool { return a.String() == name })
}

// makes adds the actions that a package makes, and the packages of its wing that it uses. In a package with several subscribers,
// the methods of the other subscribers do not count.
func makes(sources map[string][]*ast.File, helpers map[string][]string, pkg, typ string, made, seen map[string]bool) {
	if seen[pkg] {
		return
	}
	seen[pkg] = true
	wing := strings.Join(strings.Split(pkg, "/")[:2], "/") + "/"
	for _, f := range sources[pkg] {
		for _, im := range f.Imports {
			used := strings.TrimPrefix(strings.Trim(im.Path.Value, `"`), module)
			if strings.HasPrefix(used, wing) && path.Base(used) != "hudtest" {
				makes(sources, helpers, used, "", made, seen)
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && (fn.Name.Name == "Contract" || fn.Recv != nil && typ != "" && other(sources[pkg], receiver(fn.Recv.List[0].Type), typ)) {
				continue // its contract
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if name := fromPackage(n.Type); strings.HasPrefix(name, "state.") && accepted(lastName(n.Type)) {
						made[lastName(n.Type)] = true
					}
				case *ast.CallExpr: // a conversion
					if name := fromPackage(n.Fun); strings.HasPrefix(name, "state.") && accepted(lastName(n.Fun)) {
						made[lastName(n.Fun)] = true
					}
				case *ast.SelectorExpr:
					for _, action := range helpers[fromPackage(n)] {
						made[action] = true
					}
				}
				return true
			})
		}
	}
}

// other reports whether a type is another subscriber of the package.
func other(files []*ast.File, typ, than string) bool {
	return typ != than && slices.ContainsFunc(files, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Name.Name == "Contract" && fn.Recv != nil && receiver(fn.Recv.List[0].Type) == typ
		})
	})
}

// fromPackage returns the name that a selector takes from a package, with the package's name; empty for any other expression.
func fromPackage(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok {
			return id.Name + "." + sel.Sel.Name
		}
	}
	return ""
}
