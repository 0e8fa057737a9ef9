package tables

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hone-dev/hone/internal/api/schema"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// maxDepth limits the nesting, for values that contain themselves.
const maxDepth = 32

// Value converts a value of the store to the types of JSON: maps, lists, strings, numbers and bools. Fields have the names
// that package schema defines. Empty strings, lists, maps and times are omitted, and so are values without a meaning outside
// the program (functions, channels, unexported fields) and private values such as the texts of secrets. A schema.Shown
// determines its own form.
func Value(v any) any { return value(reflect.ValueOf(v), 0) }

// private returns the part of a private value that may be shown; ok is false if the value is not private.
func private(v any) (shown any, ok bool) {
	switch x := v.(type) {
	case model.Secret:
		return map[string]any{"name": x.Name, "key": x.Key}, true
	case model.K8sObject:
		return k8sObject(x), true
	case model.ComposeFile:
		return composeFile(x), true
	case model.Input:
		return input(x), true
	case state.Button:
		return button(x), true
	}
	return nil, false
}

// hidden replaces values that are not shown.
const hidden = "[hidden]"

// k8sObject hides the data of a Secret, including values that are too short for the scrubber of secrets.
func k8sObject(o model.K8sObject) any {
	var tree map[string]any
	if o.Kind == "Secret" && o.Group() == "" {
		if json.Unmarshal([]byte(o.JSON), &tree) != nil {
			tree = map[string]any{}
		}
		for _, field := range []string{"data", "stringData"} {
			data, _ := tree[field].(map[string]any)
			for k := range data {
				data[k] = hidden
			}
		}
		delete(metadata(tree), "annotations") // kubectl keeps a whole copy in an annotation
		text, err := json.Marshal(tree)
		if err != nil {
			text = nil
		}
		o.JSON = string(text)
	}
	type shown model.K8sObject
	return value(reflect.ValueOf(shown(o)), 1)
}

func metadata(tree map[string]any) map[string]any {
	m, _ := tree["metadata"].(map[string]any)
	return m
}

// composeFile hides the text of a project, which may contain passwords.
func composeFile(f model.ComposeFile) any {
	if f.Content != "" {
		f.Content = hidden
	}
	type shown model.ComposeFile
	return value(reflect.ValueOf(shown(f)), 1)
}

func input(in model.Input) any {
	if in.Kind == model.InputHidden {
		in.Default = hidden
	}
	type shown model.Input
	return value(reflect.ValueOf(shown(in)), 1)
}

// button hides the values that a click sent for hidden inputs.
func button(b state.Button) any {
	click := map[string]string{}
	for k, v := range b.Click.Inputs {
		click[k] = v
	}
	for _, in := range b.Inputs {
		if _, ok := click[in.Name]; ok && in.Kind == model.InputHidden {
			click[in.Name] = hidden
		}
	}
	b.Click.Inputs = click
	type shown state.Button
	return value(reflect.ValueOf(shown(b)), 1)
}

// value is Value at a depth of nesting. Types with a form of their own come first; all others are converted by their kind.
func value(v reflect.Value, depth int) any {
	if !v.IsValid() || depth > maxDepth {
		return nil
	}
	t := v.Type()
	if shown, ok := private(v.Interface()); ok {
		return shown
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	case time.Duration:
		return x.String()
	case schema.Shown:
		return value(reflect.ValueOf(x.Shown()), depth)
	case json.RawMessage:
		var tree any
		if json.Unmarshal(x, &tree) != nil {
			return string(x)
		}
		return tree
	case error:
		if t.Kind() != reflect.Pointer || !v.IsNil() {
			return x.Error()
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return value(v.Elem(), depth+1)
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if s, ok := v.Interface().(fmt.Stringer); ok {
			return s.String()
		}
		return v.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if s, ok := v.Interface().(fmt.Stringer); ok {
			return s.String()
		}
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return number(v.Float())
	case reflect.String:
		return text(v.String())
	case reflect.Slice, reflect.Array:
		return list(v, depth)
	case reflect.Map:
		return mapping(v, depth)
	case reflect.Struct:
		return structure(v, depth)
	}
	return nil // functions, channels and the like
}

// number returns a number that JSON can represent.
func number(f float64) any {
	if _, err := json.Marshal(f); err != nil {
		return fmt.Sprint(f)
	}
	return f
}

func text(s string) string {
	if !utf8.ValidString(s) {
		return string([]rune(s))
	}
	return s
}

func list(v reflect.Value, depth int) any {
	if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
		return text(string(v.Bytes()))
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = value(v.Index(i), depth+1)
	}
	return out
}

func mapping(v reflect.Value, depth int) any {
	out := make(map[string]any, v.Len())
	for it := v.MapRange(); it.Next(); {
		out[key(it.Key())] = value(it.Value(), depth+1)
	}
	return out
}

// key returns a map's key as a name in JSON.
func key(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return text(v.String())
	}
	return text(fmt.Sprint(v.Interface())) // a Stringer, a TextMarshaler or a number
}

// fields caches the fields of struct types.
var fields sync.Map

func fieldsOf(t reflect.Type) []schema.Field {
	if f, ok := fields.Load(t); ok {
		return f.([]schema.Field)
	}
	f, _ := fields.LoadOrStore(t, schema.Fields(t))
	return f.([]schema.Field)
}

func structure(v reflect.Value, depth int) any {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		if b, err := m.MarshalText(); err == nil {
			return text(string(b))
		}
	}
	out := map[string]any{}
	for _, f := range fieldsOf(v.Type()) {
		x, err := v.FieldByIndexErr(f.Index)
		if err != nil || f.Optional && empty(x) {
			continue
		}
		out[f.Name] = value(x, depth+1)
	}
	return out
}

// empty reports whether an optional field is omitted. False and 0 are not empty, because they have a meaning.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Pointer, reflect.Interface:
		return v.IsNil()
	case reflect.Struct:
		return v.IsZero()
	}
	return v.Type() == reflect.TypeFor[time.Duration]() && v.IsZero()
}
