package tiltfile

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
)

// text takes a string or a blob.
type text struct {
	value string
	// source is the blob's origin, isBlob tells it from a string.
	source string
	isBlob bool
	isSet  bool
}

// Unpack implements starlark.Unpacker.
func (t *text) Unpack(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.String:
		*t = text{value: string(v), isSet: true}
	case *blob:
		*t = text{value: v.text, source: v.source, isBlob: true, isSet: true}
	default:
		return fmt.Errorf("got %s, want string or blob", v.Type())
	}
	return nil
}

// textList takes a string, or a sequence of strings; blobs count as strings, and None as no strings.
type textList struct{ values []string }

// Unpack implements starlark.Unpacker.
func (l *textList) Unpack(v starlark.Value) error {
	var one text
	if err := one.Unpack(v); err == nil {
		l.values = []string{one.value}
		return nil
	}
	l.values = []string{}
	if v == starlark.None {
		return nil
	}
	it, ok := v.(starlark.Iterable)
	if _, isDict := v.(*starlark.Dict); !ok || isDict {
		return fmt.Errorf("got %s, want string or list of strings", v.Type())
	}
	for i, e := range elements(it) {
		if err := one.Unpack(e); err != nil {
			return fmt.Errorf("element %d: got %s, want string", i, e.Type())
		}
		l.values = append(l.values, one.value)
	}
	return nil
}

// textMap takes a dict from strings to strings.
type textMap struct{ values map[string]string }

// Unpack implements starlark.Unpacker.
func (m *textMap) Unpack(v starlark.Value) error {
	d, ok := v.(starlark.IterableMapping)
	if !ok {
		return fmt.Errorf("got %s, want dict of strings", v.Type())
	}
	m.values = map[string]string{}
	for _, item := range d.Items() {
		var key, val text
		if err := key.Unpack(item[0]); err != nil {
			return fmt.Errorf("key %s: %w", item[0], err)
		}
		if err := val.Unpack(item[1]); err != nil {
			return fmt.Errorf("value of %q: %w", key.value, err)
		}
		m.values[key.value] = val.value
	}
	return nil
}

// env returns the map as sorted "K=V".
func (m *textMap) env() []string {
	var out []string
	for k, v := range m.values {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// argv takes a command: a string for the shell, or a list of words without one.
type argv struct{ words []string }

// Unpack implements starlark.Unpacker.
func (a *argv) Unpack(v starlark.Value) error {
	var one text
	if err := one.Unpack(v); err == nil {
		a.words = nil
		if one.value != "" {
			a.words = []string{"sh", "-c", one.value}
		}
		return nil
	}
	var many textList
	err := many.Unpack(v)
	if v == starlark.None {
		err = errors.New("got NoneType, want string or list of strings")
	}
	if err != nil {
		return fmt.Errorf("%w: a command is a string for the shell, or a list of words", err)
	}
	a.words = many.values
	return nil
}

// optBool is a bool that knows whether it was given.
type optBool struct{ value, isSet bool }

// Unpack implements starlark.Unpacker.
func (f *optBool) Unpack(v starlark.Value) error {
	b, ok := v.(starlark.Bool)
	if !ok {
		return fmt.Errorf("got %s, want bool", v.Type())
	}
	*f = optBool{bool(b), true}
	return nil
}

// optInt is an int that knows whether it was given.
type optInt struct {
	value int
	isSet bool
}

// Unpack implements starlark.Unpacker.
func (n *optInt) Unpack(v starlark.Value) error {
	i, err := starlark.AsInt32(v)
	if err != nil {
		return fmt.Errorf("got %s, want int", v.Type())
	}
	*n = optInt{i, true}
	return nil
}

// elements returns what a sequence holds.
func elements(it starlark.Iterable) []starlark.Value {
	var out []starlark.Value
	iter := it.Iterate()
	defer iter.Done()
	var v starlark.Value
	for iter.Next(&v) {
		out = append(out, v)
	}
	return out
}

// oneOrMany returns the elements of a list or tuple, or the value itself.
func oneOrMany(v starlark.Value) []starlark.Value {
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return nil
	case *starlark.List:
		return elements(v)
	case starlark.Tuple:
		return elements(v)
	}
	return []starlark.Value{v}
}

// strings makes a Starlark list of strings.
func stringValues(list []string) *starlark.List {
	out := make([]starlark.Value, len(list))
	for i, v := range list {
		out[i] = starlark.String(v)
	}
	return starlark.NewList(out)
}

// opaque is the part that values without behaviour of their own share.
type opaque struct{ kind string }

// Type returns the value's kind.
func (o opaque) Type() string { return o.kind }

// Freeze does nothing: the values never change.
func (opaque) Freeze() {}

// Truth is always true.
func (opaque) Truth() starlark.Bool { return true }

// Hash says that the value cannot be a key.
func (o opaque) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: %s", o.kind) }

// appendNew appends the values that are not there yet.
func appendNew(list, more []string) []string {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// plainText is a value as print shows it: strings and blobs without quotes.
func plainText(v starlark.Value) string {
	if t, ok := starlark.AsString(v); ok {
		return t
	}
	return v.String()
}
