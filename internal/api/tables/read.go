package tables

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/api/schema"
	"github.com/hone-dev/hone/pkg/model"
)

// Read is the inverse of Value: it sets a value of the store from a document that Value created, decoded from JSON with or
// without json.Decoder's UseNumber. into is a pointer to the value. Parts that Value omits stay zero: the texts of secrets,
// functions, unexported fields, and the content of fields that can be of any type. Fields that the type does not have are
// ignored, so that values from other versions can be read. An error names the field whose value does not match its type.
func Read(doc, into any) error { return read(doc, reflect.ValueOf(into).Elem(), 0) }

// read is Read at a depth of nesting. Types with a form of their own come first; all others are read by their kind.
func read(doc any, v reflect.Value, depth int) error {
	if doc == nil || depth > maxDepth {
		return nil
	}
	switch x := v.Addr().Interface().(type) {
	case schema.Restored:
		shown := reflect.New(reflect.TypeOf(x.Shown())).Elem()
		if err := read(doc, shown, depth+1); err != nil {
			return err
		}
		x.Restore(shown.Interface())
		return nil
	case *time.Time:
		return readTime(doc, x)
	case *time.Duration:
		return readDuration(doc, x)
	case *json.RawMessage:
		raw, err := json.Marshal(doc)
		*x = raw
		return err
	case *error:
		text, err := readText(doc)
		*x = errors.New(text)
		return err
	case encoding.TextUnmarshaler:
		text, err := readText(doc)
		if err != nil {
			return err
		}
		return x.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return read(doc, v.Elem(), depth+1)
	case reflect.Interface:
		if v.NumMethod() == 0 { // a value of JSON, such as a field of an object
			v.Set(reflect.ValueOf(plain(doc)))
		}
		return nil // else its original type is not known
	case reflect.Bool:
		b, ok := doc.(bool)
		v.SetBool(b)
		return wants(ok, "true or false", doc)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64, reflect.Float32, reflect.Float64:
		return readNumber(doc, v)
	case reflect.String:
		text, err := readText(doc)
		v.SetString(text)
		return err
	case reflect.Slice, reflect.Array:
		return readList(doc, v, depth)
	case reflect.Map:
		return readMap(doc, v, depth)
	case reflect.Struct:
		return readStruct(doc, v, depth)
	}
	return nil
}

// plain returns a document whose numbers are numbers.
func plain(doc any) any {
	switch x := doc.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		f, _ := x.Float64()
		return f
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = plain(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = plain(x[k])
		}
		return out
	}
	return doc
}

// wants returns an error that names the expected value, unless ok.
func wants(ok bool, what string, doc any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("expected %s, got %.100v", what, doc)
}

func readText(doc any) (string, error) {
	text, ok := doc.(string)
	return text, wants(ok, "a string", doc)
}

func readTime(doc any, into *time.Time) error {
	text, err := readText(doc)
	if err != nil {
		return err
	}
	*into, err = time.Parse(time.RFC3339Nano, text)
	return err
}

func readDuration(doc any, into *time.Duration) error {
	text, err := readText(doc)
	if err != nil {
		return err
	}
	*into, err = time.ParseDuration(text)
	return err
}

func readNumber(doc any, v reflect.Value) error {
	if text, ok := doc.(string); ok && v.Kind() != reflect.Float32 && v.Kind() != reflect.Float64 {
		known := wordsOf(v.Type())
		if n, ok := known[text]; ok {
			v.Set(n)
			return nil
		}
		if len(known) > 0 {
			return wants(false, "one of the words of "+v.Type().String(), doc)
		}
		return wants(false, "a number", doc)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		return wants(false, "a number", doc)
	}
	return nil
}

// words caches the results of wordsOf by type.
var words sync.Map

// manyWords is above all numbers that are written as words: these are a few constants, or sets of up to eight of them.
const manyWords = 1 << 8

// wordsOf returns the values of a number type by the words that stand for them. If several values have the same word, it
// returns the smallest.
func wordsOf(t reflect.Type) map[string]reflect.Value {
	if m, ok := words.Load(t); ok {
		return m.(map[string]reflect.Value)
	}
	m := map[string]reflect.Value{}
	for n := range manyWords {
		v := reflect.ValueOf(n).Convert(t)
		s, ok := v.Interface().(fmt.Stringer)
		if !ok {
			break
		}
		if _, known := m[s.String()]; !known {
			m[s.String()] = v
		}
	}
	words.Store(t, m)
	return m
}

func readList(doc any, v reflect.Value, depth int) error {
	if text, ok := doc.(string); ok && v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte(text))
		return nil
	}
	list, ok := doc.([]any)
	if !ok {
		return wants(false, "a list", doc)
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	}
	for i, e := range list[:min(len(list), v.Len())] {
		if err := read(e, v.Index(i), depth+1); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}

func readMap(doc any, v reflect.Value, depth int) error {
	tree, ok := doc.(map[string]any)
	if !ok {
		return wants(false, "an object", doc)
	}
	t := v.Type()
	v.Set(reflect.MakeMapWithSize(t, len(tree)))
	for k, e := range tree {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := readKey(k, key); err != nil {
			return fmt.Errorf("%q: %w", k, err)
		}
		if err := read(e, value, depth+1); err != nil {
			return fmt.Errorf("%q: %w", k, err)
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

// readKey is the inverse of key.
func readKey(name string, into reflect.Value) error {
	if id, ok := into.Addr().Interface().(*model.TargetID); ok {
		kind, name, found := strings.Cut(name, ":")
		*id = model.TargetID{Type: model.TargetType(kind), Name: name}
		return wants(found, "TYPE:NAME", name)
	}
	if into.Kind() == reflect.String {
		into.SetString(name)
		return nil
	}
	return readNumber(json.Number(name), into)
}

func readStruct(doc any, v reflect.Value, depth int) error {
	tree, ok := doc.(map[string]any)
	if !ok {
		return wants(false, "an object", doc)
	}
	for _, f := range fieldsOf(v.Type()) {
		e, ok := tree[f.Name]
		if !ok {
			continue
		}
		if err := read(e, within(v, f.Index), depth+1); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// within returns a field of a struct or of a struct embedded in it, possibly by pointer.
func within(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
