// Package interpreter executes Tiltfiles and the files that they load, extensions included, and locates every error.
package interpreter

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// Interpreter runs the files of an evaluation. It is used by one goroutine.
type Interpreter struct {
	*eval.Evaluation
	// Registry holds the extensions that have been declared so far.
	Registry extension.Registry
	store    extension.Store
	// Native is the module native, which only embedded extensions see.
	Native  *starlarkstruct.Module
	modules map[string]*module
	// written are the calls in the files that Declaration has looked at, by path.
	written map[string]map[[2]int]written
	// Predeclared are the names that every file has.
	Predeclared starlark.StringDict
	// functions are the builtins by their dotted names.
	functions map[string]eval.Function
}

// New returns an interpreter that takes extensions from a store. It sets the function that the evaluation's thread
// calls for load statements.
func New(e *eval.Evaluation, store extension.Store) *Interpreter {
	i := &Interpreter{Evaluation: e, store: store, modules: map[string]*module{}, written: map[string]map[[2]int]written{}}
	dialect.Most.Bound(e.Thread)
	e.Thread.Load = func(_ *starlark.Thread, name string) (starlark.StringDict, error) {
		e.Profile.Enter()
		defer e.Leave("load")
		return i.loadModule(name)
	}
	return i
}

// Builtins are the functions of the interpreter itself.
func (i *Interpreter) Builtins() map[string]eval.Function {
	return map[string]eval.Function{"include": i.include, "load_dynamic": i.loadDynamic}
}

// Predeclare sets the names that every file has; a dot puts one into a module.
func (i *Interpreter) Predeclare(functions map[string]eval.Function, constants starlark.StringDict) {
	i.functions, i.Predeclared = functions, dialect.Universe()
	for name, v := range constants {
		place(i.Predeclared, "", name, v)
	}
	for name, fn := range functions {
		place(i.Predeclared, "", name, i.Bind(name, fn))
	}
}

// Ran reports whether a file was executed.
func (i *Interpreter) Ran(path string) bool { return i.modules[path] != nil }

// isBuiltin reports whether a builtin has the dotted name.
func (i *Interpreter) isBuiltin(name string) bool { return i.functions[name] != nil }

// place puts a value at a dotted name.
func place(members starlark.StringDict, prefix, name string, v starlark.Value) {
	first, rest, nested := strings.Cut(name, ".")
	if !nested {
		members[first] = v
		return
	}
	m, ok := members[first].(*starlarkstruct.Module)
	if !ok {
		m = &starlarkstruct.Module{Name: prefix + first, Members: starlark.StringDict{}}
		members[first] = m
	}
	place(m.Members, prefix+first+".", rest, v)
}
