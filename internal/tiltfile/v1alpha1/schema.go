// Package v1alpha1 implements the module v1alpha1: the types of API objects, their values, and the objects that a
// Tiltfile declares.
package v1alpha1

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

// apiModule is the prefix of the names of the API's types.
const apiModule = "v1alpha1."

// apiType describes one type of the module v1alpha1. Its constructor, the checks, the attributes of its values and
// their JSON all come from here: objects.go and helpers.go list the types.
type apiType struct {
	// name is the name of the constructor: "ui_button".
	name string
	// kind is the kind of an API object: "UIButton". Types without one are only parts of others.
	kind string
	doc  string
	// fields are the arguments, in the order of positional arguments.
	fields []*apiField
	// check checks the rules that involve several fields; it may be nil.
	check func(v *apiValue) error
	// declare adds an object; nil for parts.
	declare func(d *Declarations, c *eval.Call, v *apiValue) error
}

// apiField is one field of a type.
type apiField struct {
	name string
	kind fieldKind
	// of is the type of the value or the elements, for fieldOne and fieldMany.
	of  string
	doc string
	// required fields must be given, and not be empty.
	required bool
	// nullable fields are None instead of empty if they are not given.
	nullable bool
	// meta fields belong to the object's metadata, not to its specification.
	meta bool
	// api is the name in JSON, where it is not name in camel case.
	api string
	// check checks a value that was given; it may be nil.
	check func(x any) error
}

// fieldKind is the kind of values that a field takes.
type fieldKind string

// The kinds of fields.
const (
	fieldText    fieldKind = "string"
	fieldPath    fieldKind = "path" // made absolute
	fieldInt     fieldKind = "int"
	fieldBool    fieldKind = "bool"
	fieldTexts   fieldKind = "list of strings"
	fieldPaths   fieldKind = "list of paths"
	fieldTextMap fieldKind = "dict of strings"
	fieldOne     fieldKind = "one"
	fieldMany    fieldKind = "list"
)

// apiTypes are the types of v1alpha1 by name.
var apiTypes = func() map[string]*apiType {
	out := map[string]*apiType{}
	for _, t := range slices.Concat(apiObjectTypes(), apiHelperTypes()) {
		out[t.name] = t
	}
	return out
}()

// field returns the field of a name, or nil.
func (t *apiType) field(name string) *apiField {
	for _, f := range t.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// names are the names of the fields, in order.
func (t *apiType) names() []string {
	out := make([]string, len(t.fields))
	for i, f := range t.fields {
		out[i] = f.name
	}
	return out
}

// constructor is the builtin that makes a value of the type, or declares an object.
func (d *Declarations) constructor(t *apiType) eval.Function {
	return func(c *eval.Call) (starlark.Value, error) { return d.construct(t, c) }
}

func (d *Declarations) construct(t *apiType, c *eval.Call) (starlark.Value, error) {
	v := &apiValue{t, map[string]any{}}
	var pairs []any
	for i, f := range t.fields {
		name := f.name
		if i > 0 || t.declare == nil {
			name += "??" // finish reports missing fields
		}
		pairs = append(pairs, name, &apiSlot{c.Evaluation, f, v})
	}
	if err := c.Unpack(pairs...); err != nil {
		return nil, err
	}
	if err := v.finish(); err != nil {
		return nil, err
	}
	if t.declare == nil {
		return v, nil
	}
	return nil, d.declare(c, v)
}

// fromDict makes a value of the type from a dict that has its fields as keys.
func (t *apiType) fromDict(e *eval.Evaluation, d starlark.IterableMapping) (*apiValue, error) {
	v := &apiValue{t, map[string]any{}}
	for _, item := range d.Items() {
		key, ok := starlark.AsString(item[0])
		f := t.field(key)
		if !ok || f == nil {
			hint := hint.DidYouMean(key, t.names())
			if hint == "" {
				hint = fmt.Sprintf(" (it has %s)", strings.Join(t.names(), ", "))
			}
			return nil, fmt.Errorf("%s has no field %s%s", apiModule+t.name, item[0], hint)
		}
		if item[1] == starlark.None {
			continue
		}
		if err := (&apiSlot{e, f, v}).Unpack(item[1]); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return v, v.finish()
}

// finish checks the value as a whole.
func (v *apiValue) finish() error {
	for _, f := range v.t.fields {
		if f.required && empty(v.set[f.name]) {
			return fmt.Errorf("%s is missing (%s)", f.name, f.short())
		}
	}
	if v.t.check == nil {
		return nil
	}
	return v.t.check(v)
}

// short is the first sentence of the field's description, for use within a message.
func (f *apiField) short() string {
	first, _, _ := strings.Cut(f.doc, ". ")
	first = strings.TrimSuffix(first, ".")
	return strings.ToLower(first[:1]) + first[1:]
}

func empty(x any) bool {
	switch x := x.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case int:
		return x == 0
	case []string:
		return len(x) == 0
	case []*apiValue:
		return len(x) == 0
	}
	return false
}

// json returns the field's name in the API.
func (f *apiField) json() string {
	if f.api != "" {
		return f.api
	}
	first, rest, _ := strings.Cut(f.name, "_")
	out := first
	for _, word := range strings.Split(rest, "_") {
		if word != "" {
			out += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return out
}

// starlark returns a field's value for the program; x is nil for a field that was not given.
func (f *apiField) starlark(x any) starlark.Value {
	switch x := x.(type) {
	case string:
		return starlark.String(x)
	case int:
		return starlark.MakeInt(x)
	case bool:
		return starlark.Bool(x)
	case []string:
		return frozen(value.Strings(x))
	case map[string]string:
		d := starlark.NewDict(len(x))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			_ = d.SetKey(starlark.String(k), starlark.String(x[k])) // a new dict takes every string
		}
		return frozen(d)
	case *apiValue:
		return x
	case []*apiValue:
		list := make([]starlark.Value, len(x))
		for i, e := range x {
			list[i] = e
		}
		return frozen(starlark.NewList(list))
	}
	return f.zero()
}

func frozen(v starlark.Value) starlark.Value {
	v.Freeze()
	return v
}

// zero returns the value of a field that was not given.
func (f *apiField) zero() starlark.Value {
	if f.nullable {
		return starlark.None
	}
	switch f.kind {
	case fieldText, fieldPath:
		return starlark.String("")
	case fieldInt:
		return starlark.MakeInt(0)
	case fieldBool:
		return starlark.False
	case fieldTexts, fieldPaths, fieldMany:
		return frozen(starlark.NewList(nil))
	case fieldTextMap:
		return frozen(starlark.NewDict(0))
	case fieldOne:
	}
	return starlark.None
}

// apiSlot unpacks the value of a field.
type apiSlot struct {
	*eval.Evaluation
	field *apiField
	into  *apiValue
}

var _ starlark.Unpacker = (*apiSlot)(nil)

// Unpack implements starlark.Unpacker.
func (a *apiSlot) Unpack(v starlark.Value) error {
	x, err := a.convert(v)
	if err == nil && a.field.check != nil {
		err = a.field.check(x)
	}
	if err == nil {
		a.into.set[a.field.name] = x
	}
	return err
}

func (a *apiSlot) convert(v starlark.Value) (any, error) {
	switch a.field.kind {
	case fieldInt:
		var n value.Int
		err := n.Unpack(v)
		return n.Value, err
	case fieldBool:
		var b value.Bool
		err := b.Unpack(v)
		return b.Value, err
	case fieldTexts, fieldPaths:
		list, err := strictList(v)
		if err == nil && a.field.kind == fieldPaths {
			list = a.AbsAll(list)
		}
		return list, err
	case fieldTextMap:
		var m value.TextMap
		err := m.Unpack(v)
		return m.Values, err
	case fieldOne:
		return a.part(v)
	case fieldMany:
		return a.parts(v)
	case fieldText, fieldPath: // below
	}
	var t value.Text
	err := t.Unpack(v)
	if a.field.kind == fieldPath && t.Value != "" {
		t.Value = a.Abs(t.Value)
	}
	return t.Value, err
}

// strictList takes a list of strings, but not a single string: that would be a command that is not split into words.
func strictList(v starlark.Value) ([]string, error) {
	switch v.(type) {
	case starlark.String, *value.Blob:
		return nil, errors.New("got string, want list of strings")
	}
	var list value.Texts
	err := list.Unpack(v)
	return list.Values, err
}

// part takes a value of the field's type, or a dict with its fields.
func (a *apiSlot) part(v starlark.Value) (*apiValue, error) {
	t := apiTypes[a.field.of]
	switch v := v.(type) {
	case *apiValue:
		if v.t == t {
			return v, nil
		}
	case starlark.IterableMapping:
		return t.fromDict(a.Evaluation, v)
	}
	return nil, fmt.Errorf("got %s, want %s() or a dict with its fields", v.Type(), apiModule+t.name)
}

func (a *apiSlot) parts(v starlark.Value) ([]*apiValue, error) {
	it, ok := v.(starlark.Iterable)
	if _, isDict := v.(starlark.IterableMapping); !ok || isDict {
		return nil, fmt.Errorf("got %s, want list of %s()", v.Type(), apiModule+a.field.of)
	}
	out := []*apiValue{}
	for i, e := range value.Elements(it) {
		part, err := a.part(e)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		out = append(out, part)
	}
	return out, nil
}
