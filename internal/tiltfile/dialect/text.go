package dialect

import (
	"iter"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// mostText bounds the text that one step makes, in bytes.
const mostText = 64 << 20

// textLen returns a lower bound of the length of a value's text. It measures each value once, however many places its text
// appears in, and does not count beyond mostText.
func textLen(v starlark.Value) int {
	if isAtom(v) {
		return atomLen(v)
	}
	known := lengths{}
	return known.textLen(v)
}

// atomLen is a lower bound of the length of the text of a value that holds no others.
func atomLen(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	case starlark.Int:
		return 1 + digitsOf(v)
	}
	return 1
}

// lengths are lengths of texts, by the identity of the value. A value whose measuring has begun has none yet: the text of a
// value that contains itself ends there.
type lengths map[any]int

func (m lengths) textLen(v starlark.Value) int {
	id, elements := elementsOf(v)
	if id == nil {
		return atomLen(v)
	}
	if n, known := m[id]; known {
		return 1 + n
	}
	m[id] = 0
	sum := 1
	for e := range elements {
		if sum += m.textLen(e); sum > mostText {
			break
		}
	}
	m[id] = sum
	return sum
}

// elementsOf returns an identity for a value that has other values' texts in its own, and these values.
func elementsOf(v starlark.Value) (id any, elements iter.Seq[starlark.Value]) {
	switch v := v.(type) {
	case *starlark.List:
		return v, v.Elements()
	case starlark.Tuple:
		if len(v) > 0 {
			return &v[0], v.Elements()
		}
	case *starlark.Set:
		return v, v.Elements()
	case *starlark.Dict:
		return v, func(yield func(starlark.Value) bool) {
			for key, value := range v.Entries() {
				if !yield(key) || !yield(value) {
					return
				}
			}
		}
	case *starlarkstruct.Struct:
		return v, fields(v)
	}
	return nil, nil
}

// heldBy are the values that a function holds: its defaults, and the variables of the functions around it.
func heldBy(fn *starlark.Function) iter.Seq[starlark.Value] {
	return func(yield func(starlark.Value) bool) {
		for i := range fn.NumFreeVars() {
			if _, held := fn.FreeVar(i); !yield(held) {
				return
			}
		}
		for i := range fn.NumParams() {
			if !yield(fn.ParamDefault(i)) {
				return
			}
		}
	}
}

func fields(v *starlarkstruct.Struct) iter.Seq[starlark.Value] {
	return func(yield func(starlark.Value) bool) {
		for _, name := range v.AttrNames() {
			if held, err := v.Attr(name); err == nil && !yield(held) {
				return
			}
		}
	}
}
