package dialect

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// What prints, compares, hashes and freezes values follows them down on the stack, whose end is the end of the session, and
// some of it takes time with the square of the depth. So an evaluation that nests values ever deeper is ended on the way,
// wherever the value would go to: every so many steps, what the program holds is looked at.
const (
	// mostNesting bounds how deep values are nested; stepsBetween is how often that is looked at. A level takes some steps, so
	// that what comes about in between is not much deeper.
	mostNesting  = 10_000
	stepsBetween = 50_000
	// mostLooks bounds the values that are looked at each time, mostSiblings those of one value, at each of its ends.
	mostLooks    = 50_000
	mostSiblings = 8
	// mostFrames bounds the calls whose variables are looked at, from the innermost.
	mostFrames = 16
)

var tooDeep = fmt.Sprintf("a value is nested more than %d levels deep, which is the most that a Tiltfile may have", mostNesting)

// BoundNesting makes a thread end when it holds a value that is nested too deep.
func BoundNesting(thread *starlark.Thread) {
	thread.SetMaxExecutionSteps(stepsBetween)
	thread.OnMaxSteps = func(thread *starlark.Thread) {
		thread.SetMaxExecutionSteps(thread.Steps + stepsBetween)
		d := diver{looks: mostLooks, path: map[any]bool{}}
		if d.thread(thread) {
			thread.Cancel(tooDeep)
		}
	}
}

// diver looks for a value that is nested too deep, going down first.
type diver struct {
	looks, depth int
	// path are the values on the way down: those that hold themselves have no depth.
	path map[any]bool
}

// thread reports whether a variable of the program is nested too deep.
func (d *diver) thread(thread *starlark.Thread) bool {
	modules := map[*starlark.Module]bool{}
	for i := range min(thread.CallStackDepth(), mostFrames) {
		frame := thread.DebugFrame(i)
		fn, ok := frame.Callable().(*starlark.Function)
		if !ok {
			continue
		}
		for k := range frame.NumLocals() {
			if _, v := frame.Local(k); d.down(v) {
				return true
			}
		}
		if d.down(fn) {
			return true
		}
		if modules[fn.Module()] {
			continue
		}
		modules[fn.Module()] = true
		for _, v := range fn.Globals() {
			if d.down(v) {
				return true
			}
		}
	}
	return false
}

// down reports whether a value is nested too deep. It calls itself as deep as mostNesting.
func (d *diver) down(v starlark.Value) bool {
	id, children := inside(v)
	if id == nil || d.looks <= 0 || d.path[id] {
		return false
	}
	if d.depth >= mostNesting {
		return true
	}
	d.looks--
	d.depth++
	d.path[id] = true
	found := false
	children(func(child starlark.Value) bool {
		found = d.down(child)
		return !found
	})
	d.depth--
	delete(d.path, id)
	return found
}

// inside returns what tells a value that holds others from the rest, and some of the others; nil for values that hold none.
func inside(v starlark.Value) (id any, children func(yield func(starlark.Value) bool)) {
	switch v := v.(type) {
	case *starlark.List:
		return v, ends(v)
	case starlark.Tuple:
		if len(v) > 0 {
			return &v[0], ends(v)
		}
	case *starlark.Dict:
		return v, func(yield func(starlark.Value) bool) {
			left := 2 * mostSiblings
			for key, value := range v.Entries() {
				if left--; left < 0 || !yield(value) || !yield(key) {
					return
				}
			}
		}
	case *starlark.Set:
		return v, func(yield func(starlark.Value) bool) {
			left := 2 * mostSiblings
			for e := range v.Elements() {
				if left--; left < 0 || !yield(e) {
					return
				}
			}
		}
	case *starlarkstruct.Struct:
		return v, attributes(v)
	case *starlarkstruct.Module:
		return v, attributes(v)
	case *starlark.Function:
		return v, func(yield func(starlark.Value) bool) {
			for i := range v.NumFreeVars() {
				if _, held := v.FreeVar(i); !yield(held) {
					return
				}
			}
			for i := range v.NumParams() {
				if !yield(v.ParamDefault(i)) {
					return
				}
			}
		}
	case *starlark.Builtin:
		if of := v.Receiver(); of != nil {
			return v, func(yield func(starlark.Value) bool) { yield(of) }
		}
	}
	return nil, nil
}

// ends are the first and last elements of a sequence, the last first: what grows, grows there.
func ends(v starlark.Indexable) func(yield func(starlark.Value) bool) {
	return func(yield func(starlark.Value) bool) {
		n := v.Len()
		for i := n - 1; i >= max(0, n-mostSiblings); i-- {
			if !yield(v.Index(i)) {
				return
			}
		}
		for i := range min(mostSiblings, max(0, n-mostSiblings)) {
			if !yield(v.Index(i)) {
				return
			}
		}
	}
}

func attributes(v starlark.HasAttrs) func(yield func(starlark.Value) bool) {
	return func(yield func(starlark.Value) bool) {
		names := v.AttrNames()
		for _, name := range names[:min(len(names), 2*mostSiblings)] {
			held, err := v.Attr(name)
			if err == nil && !yield(held) {
				return
			}
		}
	}
}

// Universe are functions of Starlark that do all their work at once, however much it is, so that nothing could break
// it off: they refuse what would take long.
func Universe() starlark.StringDict {
	out := starlark.StringDict{}
	for _, name := range []string{"all", "any", "bytes", "dict", "enumerate", "list", "max", "min", "reversed", "set", "sorted", "tuple", "zip"} {
		out[name] = guarded(name, fewValues)
	}
	out["int"] = guarded("int", fewDigits)
	return out
}

// guarded is a function of Starlark that looks at each argument first.
func guarded(name string, check func(starlark.Value) error) *starlark.Builtin {
	fn := starlark.Universe[name].(*starlark.Builtin)
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for _, arg := range args {
			if err := check(arg); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return fn.CallInternal(thread, args, kwargs)
	})
}

// fewValues refuses what stands for too many values, such as range(1 << 40).
func fewValues(v starlark.Value) error {
	if s, ok := v.(starlark.Sequence); ok && s.Len() > MostValues {
		return fmt.Errorf("%d values are more than %d, which is the most that it takes", s.Len(), MostValues)
	}
	return nil
}

// fewDigits refuses texts of numbers that are too long: reading them takes time with the square of their length.
func fewDigits(v starlark.Value) error {
	if text, ok := starlark.AsString(v); ok && len(text) > MostDigits {
		return fmt.Errorf("a number of %d characters is longer than %d, which is the most that it takes", len(text), MostDigits)
	}
	return nil
}
