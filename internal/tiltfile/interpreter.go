package tiltfile

import (
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// interpreter runs the files of an evaluation. It is used by one goroutine.
type interpreter struct {
	*eval.Evaluation
	// registry knows the extensions that were declared so far.
	registry extension.Registry
	store    extension.Store
	// native is the module of that name, which only embedded extensions see.
	native      *starlarkstruct.Module
	modules     map[string]*module
	predeclared starlark.StringDict
	// functions are the builtins by their dotted names.
	functions map[string]eval.Function
}

// newInterpreter returns an interpreter that takes extensions from a store. It takes over what the evaluation's thread does
// for load statements.
func newInterpreter(e *eval.Evaluation, store extension.Store) *interpreter {
	i := &interpreter{Evaluation: e, store: store, modules: map[string]*module{}}
	dialect.BoundNesting(e.Thread)
	e.Thread.Load = func(_ *starlark.Thread, name string) (starlark.StringDict, error) {
		e.Profile.Enter()
		defer e.Leave("load")
		return i.loadModule(name)
	}
	return i
}

// builtins are the functions of the interpreter itself.
func (i *interpreter) builtins() map[string]eval.Function {
	return map[string]eval.Function{"include": i.include, "load_dynamic": i.loadDynamic}
}

// predeclare sets the names that every file finds; a dot puts one into a module.
func (i *interpreter) predeclare(functions map[string]eval.Function, constants starlark.StringDict) {
	i.functions, i.predeclared = functions, dialect.Universe()
	for name, v := range constants {
		place(i.predeclared, "", name, v)
	}
	for name, fn := range functions {
		place(i.predeclared, "", name, i.Bind(name, fn))
	}
}

// isBuiltin reports whether a builtin has the dotted name.
func (i *interpreter) isBuiltin(name string) bool { return i.functions[name] != nil }

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
