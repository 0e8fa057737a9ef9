package description

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// value is a JSON value whose fields keep their order: a scalar (string, json.Number, bool or nil), []value or fields.
type value any

// fields are the fields of an object.
type fields []field

type field struct {
	name string
	v    value
}

// get returns the value of a field; nil if it does not exist.
func (f fields) get(name string) value {
	for _, x := range f {
		if x.name == name {
			return x.v
		}
	}
	return nil
}

// sub returns a field that is an object.
func (f fields) sub(name string) fields {
	s, _ := f.get(name).(fields)
	return s
}

func (f fields) text(name string) string {
	if v := f.get(name); v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

func parse(doc []byte) (fields, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	v, err := next(d)
	if err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	f, ok := v.(fields)
	if !ok {
		return nil, fmt.Errorf("read the object: it is a %T", v)
	}
	return f, nil
}

func next(d *json.Decoder) (value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		out := fields{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := next(d)
			if err != nil {
				return nil, err
			}
			out = append(out, field{name.(string), v})
		}
		_, err := d.Token()
		return out, err
	case json.Delim('['):
		out := []value{}
		for d.More() {
			v, err := next(d)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err := d.Token()
		return out, err
	}
	return t, nil
}

// empty reports whether a value has no content.
func empty(v value) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case fields:
		for _, f := range x {
			if !empty(f.v) {
				return false
			}
		}
		return true
	case []value:
		return len(x) == 0
	}
	return false
}
