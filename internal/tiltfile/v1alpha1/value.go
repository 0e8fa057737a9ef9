package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// apiValue is a value of one of the types of v1alpha1. It does not change after construction.
type apiValue struct {
	t *apiType
	// set holds the fields that were given, by name. Their types are string, int, bool, []string, map[string]string,
	// *apiValue or []*apiValue, depending on the field's kind.
	set map[string]any
}

var _ starlark.HasAttrs = (*apiValue)(nil)

// String shows the call that makes the value.
func (v *apiValue) String() string {
	var args []string
	for _, f := range v.t.fields {
		if x, ok := v.set[f.name]; ok {
			args = append(args, f.name+"="+f.starlark(x).String())
		}
	}
	return v.Type() + "(" + strings.Join(args, ", ") + ")"
}

// Type returns "v1alpha1.NAME".
func (v *apiValue) Type() string { return apiModule + v.t.name }

// Freeze implements starlark.Value; the value never changes.
func (v *apiValue) Freeze() {}

// Truth is always true.
func (v *apiValue) Truth() starlark.Bool { return true }

// Hash returns an error: the value cannot be a key.
func (v *apiValue) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", v.Type()) }

// Attr returns a field; one that was not given has the zero value of its kind, or None.
func (v *apiValue) Attr(name string) (starlark.Value, error) {
	f := v.t.field(name)
	if f == nil {
		return nil, nil // the interpreter reports it, and suggests the attribute that was probably meant
	}
	return f.starlark(v.set[name]), nil
}

// AttrNames lists the fields.
func (v *apiValue) AttrNames() []string { return v.t.names() }

func (v *apiValue) has(name string) bool { _, ok := v.set[name]; return ok }

// given returns how many of the fields were given.
func (v *apiValue) given(names ...string) int {
	n := 0
	for _, name := range names {
		if v.has(name) {
			n++
		}
	}
	return n
}

func (v *apiValue) text(name string) string               { return field[string](v, name) }
func (v *apiValue) number(name string) int                { return field[int](v, name) }
func (v *apiValue) flag(name string) bool                 { return field[bool](v, name) }
func (v *apiValue) texts(name string) []string            { return field[[]string](v, name) }
func (v *apiValue) textMap(name string) map[string]string { return field[map[string]string](v, name) }
func (v *apiValue) many(name string) []*apiValue          { return field[[]*apiValue](v, name) }

// one returns the value in a field, or nil.
func (v *apiValue) one(name string) *apiValue { return field[*apiValue](v, name) }

// field returns a field's value, or the zero value where it was not given. Fields have the types of their kinds, so a
// wrong T is a bug in this package.
func field[T any](v *apiValue, name string) T {
	x, ok := v.set[name]
	if !ok {
		var zero T
		return zero
	}
	return x.(T)
}

// spec returns the specification as JSON, with the API's names and without the metadata.
func (v *apiValue) spec() (string, error) {
	out, err := json.Marshal(v.plain())
	return string(out), err
}

// plain returns the fields that were given, in a form for JSON.
func (v *apiValue) plain() map[string]any {
	out := map[string]any{}
	for _, f := range v.t.fields {
		x, ok := v.set[f.name]
		if !ok || f.meta {
			continue
		}
		switch y := x.(type) {
		case *apiValue:
			x = y.plain()
		case []*apiValue:
			list := make([]any, len(y))
			for i, e := range y {
				list[i] = e.plain()
			}
			x = list
		}
		out[f.json()] = x
	}
	return out
}
