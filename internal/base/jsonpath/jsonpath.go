package jsonpath

import (
	"maps"
	"slices"
)

// Path is a parsed path.
type Path struct {
	text  string
	steps []step
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// step is one element of a path.
type step struct {
	kind stepKind
	// names are the fields of stepNames.
	names []string
	// indexes are the items of stepIndexes; negative ones count from the end.
	indexes []int
	// slice holds the bounds of stepSlice.
	slice bounds
	// where is the condition of stepWhere.
	where condition
}

type stepKind int

const (
	stepNames   stepKind = iota // fields, by name
	stepIndexes                 // items, by number
	stepSlice                   // items from one to another
	stepAll                     // every field or item
	stepWhere                   // items for which a condition holds
	stepDeep                    // the value itself and everything below it
)

// bounds are the bounds of a slice: from, to and step, each as written; nil if omitted.
type bounds struct{ from, to, by *int }

// condition compares a field of an item with a value, or checks whether the field exists.
type condition struct {
	path   []step
	op     string // "", "==" or "!="
	equals any
}

// Each calls visit, in a fixed order, for every value that the path matches below root, with a function that replaces
// the value. It does not call visit if nothing matches. It stops at the first error of visit and returns it. Replacing
// the root itself does nothing.
func (p Path) Each(root any, visit func(v any, set func(any)) error) error {
	return p.EachIn(root, func(_ map[string]any, v any, set func(any)) error { return visit(v, set) })
}

// EachIn is Each with the innermost mapping that contains the value; nil if there is none.
func (p Path) EachIn(root any, visit func(in map[string]any, v any, set func(any)) error) error {
	return place{v: root, set: func(any) {}}.each(p.steps, visit)
}

// Find returns the values that the path matches below root.
func (p Path) Find(root any) []any {
	var out []any
	_ = p.Each(root, func(v any, _ func(any)) error {
		out = append(out, v)
		return nil
	})
	return out
}

// place is a value with the mapping that contains it, and a function that replaces it.
type place struct {
	in  map[string]any
	v   any
	set func(any)
}

type visitor func(in map[string]any, v any, set func(any)) error

func (p place) each(steps []step, visit visitor) error {
	if len(steps) == 0 {
		return visit(p.in, p.v, p.set)
	}
	s := steps[0]
	if s.kind == stepDeep {
		return p.deep(steps[1:], visit)
	}
	var below []place
	switch v := p.v.(type) {
	case map[string]any:
		below = p.fields(v, s.fields(v))
	case []any:
		below = p.items(v, s.items(v))
	}
	for _, b := range below {
		if err := b.each(steps[1:], visit); err != nil {
			return err
		}
	}
	return nil
}

// deep applies the steps to the value and to everything below it.
func (p place) deep(steps []step, visit visitor) error {
	if err := p.each(steps, visit); err != nil {
		return err
	}
	var below []place
	switch v := p.v.(type) {
	case map[string]any:
		below = p.fields(v, slices.Sorted(maps.Keys(v)))
	case []any:
		below = p.items(v, bounds{}.of(len(v)))
	}
	for _, b := range below {
		if err := b.deep(steps, visit); err != nil {
			return err
		}
	}
	return nil
}

func (place) fields(m map[string]any, names []string) []place {
	out := make([]place, len(names))
	for i, k := range names {
		out[i] = place{m, m[k], func(n any) { m[k] = n }}
	}
	return out
}

func (p place) items(list []any, at []int) []place {
	out := make([]place, len(at))
	for i, k := range at {
		out[i] = place{p.in, list[k], func(n any) { list[k] = n }}
	}
	return out
}

// fields returns the fields of a map that the step matches.
func (s step) fields(m map[string]any) []string {
	switch s.kind {
	case stepAll:
		return slices.Sorted(maps.Keys(m))
	case stepNames:
		var out []string
		for _, n := range s.names {
			if _, ok := m[n]; ok {
				out = append(out, n)
			}
		}
		return out
	case stepIndexes, stepSlice, stepWhere: // match items only
	case stepDeep: // matches no field itself: deep follows it
	}
	return nil
}

// items returns the indexes of the items of a list that the step matches.
func (s step) items(list []any) []int {
	var out []int
	switch s.kind {
	case stepIndexes:
		for _, i := range s.indexes {
			if i < 0 {
				i += len(list)
			}
			if i >= 0 && i < len(list) {
				out = append(out, i)
			}
		}
	case stepSlice:
		return s.slice.of(len(list))
	case stepAll, stepWhere:
		for i, item := range list {
			if s.kind == stepAll || s.where.holds(item) {
				out = append(out, i)
			}
		}
	case stepNames: // matches fields only
	case stepDeep: // matches no item itself: deep follows it
	}
	return out
}

// of returns the indexes within the bounds in a list of n items.
func (b bounds) of(n int) []int {
	from, to, by := 0, n, 1
	at := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	if b.from != nil {
		from = at(*b.from)
	}
	if b.to != nil {
		to = at(*b.to)
	}
	if b.by != nil {
		by = *b.by
	}
	var out []int
	for i := from; i < to; i += by {
		out = append(out, i)
	}
	return out
}

func (c condition) holds(item any) bool {
	found := Path{steps: c.path}.Find(item)
	switch c.op {
	case "==":
		return slices.ContainsFunc(found, func(v any) bool { return same(v, c.equals) })
	case "!=":
		return len(found) > 0 && !slices.ContainsFunc(found, func(v any) bool { return same(v, c.equals) })
	}
	return len(found) > 0
}

// same compares decoded values. Numbers are compared by value, whatever their Go type.
func same(a, b any) bool {
	x, isNumber := number(a)
	y, both := number(b)
	if isNumber && both {
		return x == y
	}
	switch a.(type) {
	case string, bool, nil:
		return a == b
	}
	return false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}
