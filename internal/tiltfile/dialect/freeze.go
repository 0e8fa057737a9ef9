package dialect

import (
	"maps"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Run executes a program, and returns its variables, which nothing can change any more.
func Run(thread *starlark.Thread, program *starlark.Program, env starlark.StringDict) (starlark.StringDict, error) {
	globals, err := program.Init(thread, env)
	maps.DeleteFunc(globals, func(name string, _ starlark.Value) bool { return strings.HasPrefix(name, ".") })
	freeze(globals)
	return globals, err
}

// freeze makes values unchangeable. Starlark freezes a tuple or a function once for each place that holds it: that takes hours
// for forty times x = (x, x), and overflows the stack for a function that calls itself by a variable of the function around it.
// Such values stay changeable.
func freeze(globals starlark.StringDict) {
	frozen := map[any]bool{}
	for _, v := range globals {
		r := rehearsal{left: mostRehearsed, frozen: frozen}
		if r.freezes(v) {
			v.Freeze()
		} else {
			frozen = map[any]bool{}
		}
	}
}

// mostRehearsed bounds the lists, tuples and other containers that are frozen for one variable.
const mostRehearsed = 1_000_000

// A rehearsal goes where Freeze of a value would go.
type rehearsal struct {
	left, depth int
	// frozen are the values that remember that they are frozen.
	frozen map[any]bool
}

// freezes reports whether the value can be frozen in bounded time and depth.
func (r *rehearsal) freezes(v starlark.Value) bool {
	id, held := elementsOf(v)
	if fn, ok := v.(*starlark.Function); ok {
		id, held = fn, heldBy(fn)
	}
	if id == nil || r.frozen[id] {
		return true
	}
	if r.left == 0 || r.depth == mostNesting {
		return false
	}
	r.left--
	switch v.(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set, *starlarkstruct.Struct:
		r.frozen[id] = true
	}
	r.depth++
	defer func() { r.depth-- }()
	for e := range held {
		if !r.freezes(e) {
			return false
		}
	}
	return true
}
