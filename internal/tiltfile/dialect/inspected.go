package dialect

import "go.starlark.net/starlark"

// To compare two values, or to look one up, is one step, however many places of them hold the same value: forty times
// x = (x, x) has a trillion.

// isAtom reports whether a value holds no others.
func isAtom(v starlark.Value) bool {
	id, _ := elementsOf(v)
	return id == nil
}

// equality measures x == y. Sequences of different length differ at once.
func equality(x, y starlark.Value) size {
	if starlark.Len(x) != starlark.Len(y) {
		return size{0, none}
	}
	return comparison(x, y)
}

// comparison measures the order of x and y. It ends at the end of the shorter one.
func comparison(x, y starlark.Value) size {
	if isAtom(x) || isAtom(y) {
		return size{0, none}
	}
	return size{min(textLen(x), textLen(y)), compared}
}

// membership measures x in y.
func membership(x, y starlark.Value) size {
	switch y.(type) {
	case *starlark.List, starlark.Tuple:
		if isAtom(x) {
			return size{0, none}
		}
		return size{textLen(y), compared}
	}
	return hashing(x)
}

// hashing measures a value as a key.
func hashing(v starlark.Value) size {
	if isAtom(v) {
		return size{0, none}
	}
	return size{textLen(v), hashed}
}

// hashingEach measures the elements of a sequence as keys.
func hashingEach(v starlark.Value, keyOf func(starlark.Value) starlark.Value) size {
	sum := size{count(v), values}
	elements, ok := v.(starlark.Iterable)
	if _, keyed := v.(starlark.IterableMapping); keyed || !ok || sum.refused() != nil {
		return sum
	}
	sum = size{0, hashed}
	for e := range starlark.Elements(elements) {
		if sum = sum.plus(hashing(keyOf(e)).n); sum.refused() != nil {
			break
		}
	}
	return sum
}

// itself is the key of an element of a set.
func itself(v starlark.Value) starlark.Value { return v }

// first is the key of a pair of a key and a value.
func first(v starlark.Value) starlark.Value {
	if pair, ok := v.(starlark.Indexable); ok && pair.Len() > 0 {
		return pair.Index(0)
	}
	return starlark.None
}

// count returns the number of values that a value yields, or a larger number than MostValues.
func count(v starlark.Value) int {
	if n := starlark.Len(v); n >= 0 {
		return n
	}
	n := 0
	if elements, ok := v.(starlark.Iterable); ok {
		for range starlark.Elements(elements) {
			if n++; n > MostValues {
				break
			}
		}
	}
	return n
}
