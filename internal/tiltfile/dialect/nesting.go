package dialect

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// The code that prints, compares, hashes and freezes values is recursive: values that are nested too deep overflow the
// stack, which ends the session, and some of that code takes time that grows with the square of the depth. So the values of
// the program are inspected every stepsBetween steps, and an evaluation with a value that is nested too deep is cancelled,
// even if it would never print or compare that value.
const (
	// mostNesting bounds how deep values are nested; stepsBetween is the number of steps between two inspections. A
	// level takes several steps, so values do not get much deeper between inspections.
	mostNesting  = 10_000
	stepsBetween = 50_000
	// mostLooks bounds the values that are inspected each time, mostSiblings the elements of one value at each of its ends.
	mostLooks    = 50_000
	mostSiblings = 8
	// mostFrames bounds the calls whose variables are inspected, from the innermost.
	mostFrames = 16
)

var tooDeep = fmt.Sprintf("a value is nested more than %d levels deep, which is the most that a Tiltfile may have", mostNesting)

// diver looks for a value that is nested too deep, depth first.
type diver struct {
	looks, depth int
	// path are the values on the way down: values that contain themselves have no depth.
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

// down reports whether a value is nested too deep. It recurses at most mostNesting levels.
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

// inside returns an identity for a value that contains others, and some of these; nil for values that contain none.
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
		return v, heldBy(v)
	case *starlark.Builtin:
		if of := v.Receiver(); of != nil {
			return v, func(yield func(starlark.Value) bool) { yield(of) }
		}
	}
	return nil, nil
}

// ends are the first and last elements of a sequence, the last first: sequences grow at their end.
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
