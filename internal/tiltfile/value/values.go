// Package value holds the Starlark values of Tiltfiles and the types of builtins' arguments: blobs, texts, lists,
// commands, ports, the environment, data.
package value

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
)

// Text takes a string or a blob.
type Text struct {
	Value string
	// Source is the blob's origin; IsBlob distinguishes a blob from a string.
	Source string
	IsBlob bool
	isSet  bool
}

// Unpack implements starlark.Unpacker.
func (t *Text) Unpack(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.String:
		*t = Text{Value: string(v), isSet: true}
	case *Blob:
		*t = Text{Value: v.text, Source: v.source, IsBlob: true, isSet: true}
	default:
		return fmt.Errorf("got %s, want string or blob", v.Type())
	}
	return nil
}

// Texts takes a string, or a sequence of strings; blobs count as strings, and None as no strings.
type Texts struct{ Values []string }

// Unpack implements starlark.Unpacker.
func (l *Texts) Unpack(v starlark.Value) error {
	var one Text
	if err := one.Unpack(v); err == nil {
		l.Values = []string{one.Value}
		return nil
	}
	l.Values = []string{}
	if v == starlark.None {
		return nil
	}
	it, ok := v.(starlark.Iterable)
	if _, isDict := v.(*starlark.Dict); !ok || isDict {
		return fmt.Errorf("got %s, want string or list of strings", v.Type())
	}
	for i, e := range Elements(it) {
		if err := one.Unpack(e); err != nil {
			return fmt.Errorf("element %d: got %s, want string", i, e.Type())
		}
		l.Values = append(l.Values, one.Value)
	}
	return nil
}

// TextMap takes a dict from strings to strings.
type TextMap struct{ Values map[string]string }

// Unpack implements starlark.Unpacker.
func (m *TextMap) Unpack(v starlark.Value) error {
	d, ok := v.(starlark.IterableMapping)
	if !ok {
		return fmt.Errorf("got %s, want dict of strings", v.Type())
	}
	m.Values = map[string]string{}
	for _, item := range d.Items() {
		var key, val Text
		if err := key.Unpack(item[0]); err != nil {
			return fmt.Errorf("key %s: %w", item[0], err)
		}
		if err := val.Unpack(item[1]); err != nil {
			return fmt.Errorf("value of %q: %w", key.Value, err)
		}
		m.Values[key.Value] = val.Value
	}
	return nil
}

// Env returns the map as sorted "K=V".
func (m *TextMap) Env() []string {
	var out []string
	for k, v := range m.Values {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// Argv takes a command: a string for the shell, or a list of words without one.
type Argv struct{ Words []string }

// Unpack implements starlark.Unpacker.
func (a *Argv) Unpack(v starlark.Value) error {
	var one Text
	if err := one.Unpack(v); err == nil {
		a.Words = nil
		if one.Value != "" {
			a.Words = []string{"sh", "-c", one.Value}
		}
		return nil
	}
	var many Texts
	err := many.Unpack(v)
	if v == starlark.None {
		err = errors.New("got NoneType, want string or list of strings")
	}
	if err != nil {
		return fmt.Errorf("%w: a command is a string for the shell, or a list of words", err)
	}
	a.Words = many.Values
	return nil
}

// Bool is a bool argument, and whether it was given.
type Bool struct{ Value, IsSet bool }

// Unpack implements starlark.Unpacker.
func (f *Bool) Unpack(v starlark.Value) error {
	b, ok := v.(starlark.Bool)
	if !ok {
		return fmt.Errorf("got %s, want bool", v.Type())
	}
	*f = Bool{bool(b), true}
	return nil
}

// Int is an int argument, and whether it was given.
type Int struct {
	Value int
	IsSet bool
}

// Unpack implements starlark.Unpacker.
func (n *Int) Unpack(v starlark.Value) error {
	i, err := starlark.AsInt32(v)
	if err != nil {
		return fmt.Errorf("got %s, want int", v.Type())
	}
	*n = Int{i, true}
	return nil
}

// Elements returns the elements of a sequence.
func Elements(it starlark.Iterable) []starlark.Value {
	var out []starlark.Value
	iter := it.Iterate()
	defer iter.Done()
	var v starlark.Value
	for iter.Next(&v) {
		out = append(out, v)
	}
	return out
}

// OneOrMany returns the elements of a list or tuple, or the value itself.
func OneOrMany(v starlark.Value) []starlark.Value {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return nil
	case *starlark.List:
		return Elements(v)
	case starlark.Tuple:
		return Elements(v)
	}
	return []starlark.Value{v}
}

// Strings returns a Starlark list of strings.
func Strings(list []string) *starlark.List {
	out := make([]starlark.Value, len(list))
	for i, v := range list {
		out[i] = starlark.String(v)
	}
	return starlark.NewList(out)
}

// Opaque is the common part of values without behaviour of their own.
type Opaque struct{ Kind string }

// Type returns the value's kind.
func (o Opaque) Type() string { return o.Kind }

// Freeze does nothing: the values never change.
func (Opaque) Freeze() {}

// Truth is always true.
func (Opaque) Truth() starlark.Bool { return true }

// Hash returns an error: the value cannot be a key.
func (o Opaque) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", o.Kind) }

// AppendNew appends the values that are not in the list yet.
func AppendNew(list, more []string) []string {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// PlainText formats a value as print shows it: strings and blobs without quotes.
func PlainText(v starlark.Value) string {
	if t, ok := starlark.AsString(v); ok {
		return t
	}
	return v.String()
}
