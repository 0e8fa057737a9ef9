package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
)

// DecodeJSON decodes one JSON value. Integers of any size stay exact.
func DecodeJSON(data []byte) (starlark.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, JSONError(data, err)
	}
	if _, err := dec.Token(); err == nil {
		return nil, errors.New("there is more after the end of the JSON value")
	}
	return FromJSON(v)
}

// JSONError adds the line to a syntax error.
func JSONError(data []byte, err error) error {
	var syn *json.SyntaxError
	if errors.As(err, &syn) && syn.Offset <= int64(len(data)) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:syn.Offset], []byte("\n")), err)
	}
	return fmt.Errorf("read JSON: %w", err)
}

// FromJSON converts a value that encoding/json decoded, with numbers as json.Number, to a Starlark value.
func FromJSON(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(v), nil
	case string:
		return starlark.String(v), nil
	case json.Number:
		if len(v) > dialect.MostDigits {
			return nil, fmt.Errorf("there is a number of %d digits; the most is %d", len(v), dialect.MostDigits)
		}
		if i, ok := new(big.Int).SetString(v.String(), 10); ok {
			return starlark.MakeBigInt(i), nil
		}
		f, err := v.Float64()
		return starlark.Float(f), err
	case []any:
		list := make([]starlark.Value, len(v))
		for i, e := range v {
			var err error
			if list[i], err = FromJSON(e); err != nil {
				return nil, err
			}
		}
		return starlark.NewList(list), nil
	case map[string]any:
		return dictToStarlark(v)
	}
	return nil, fmt.Errorf("cannot represent a %T", v)
}

func dictToStarlark(m map[string]any) (starlark.Value, error) {
	d := starlark.NewDict(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e, err := FromJSON(m[k])
		if err != nil {
			return nil, err
		}
		if err := d.SetKey(starlark.String(k), e); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// ToJSON is the inverse of FromJSON, for encoders.
func ToJSON(v starlark.Value) (any, error) { return (&encoder{}).value(v) }

// encoder is the encoding of one value.
type encoder struct {
	// inside are the values that enclose the one being encoded, outermost first.
	inside []starlark.Value
	count  int
}

func (e *encoder) value(v starlark.Value) (any, error) {
	if e.count++; e.count > dialect.MostValues {
		return nil, fmt.Errorf("there are more than %d values, counting a value once for each place that it appears in", dialect.MostValues)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return string(v), nil
	case *Blob:
		return v.text, nil
	case starlark.Int:
		return json.Number(v.String()), nil
	case starlark.Float:
		return float64(v), nil
	}
	if err := e.enter(v); err != nil {
		return nil, err
	}
	defer func() { e.inside = e.inside[:len(e.inside)-1] }()
	switch v := v.(type) {
	case *starlarkstruct.Struct:
		return e.fields(v)
	case starlark.IterableMapping:
		return e.items(v)
	case starlark.Iterable:
		list := []any{}
		for _, one := range Elements(v) {
			x, err := e.value(one)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	}
	return nil, fmt.Errorf("cannot encode a %s", v.Type())
}

// enter refuses values that contain themselves, and values that are nested too deep.
func (e *encoder) enter(v starlark.Value) error {
	if len(e.inside) == dialect.MostDepth {
		return fmt.Errorf("the value is nested more than %d levels deep", dialect.MostDepth)
	}
	switch v.(type) {
	case *starlark.List, *starlark.Dict: // only mutable values can contain themselves
		if slices.Contains(e.inside, v) {
			return fmt.Errorf("the value contains a %s that contains itself", v.Type())
		}
	default:
		v = starlark.None // tuples, which may be among the others, cannot be compared
	}
	e.inside = append(e.inside, v)
	return nil
}

func (e *encoder) fields(v *starlarkstruct.Struct) (any, error) {
	m := map[string]any{}
	for _, name := range v.AttrNames() {
		a, err := v.Attr(name)
		if err != nil {
			return nil, err
		}
		if m[name], err = e.value(a); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (e *encoder) items(v starlark.IterableMapping) (any, error) {
	m := map[string]any{}
	for _, item := range v.Items() {
		k, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("cannot encode a dict whose key %s is not a string", item[0])
		}
		x, err := e.value(item[1])
		if err != nil {
			return nil, err
		}
		m[k] = x
	}
	return m, nil
}
