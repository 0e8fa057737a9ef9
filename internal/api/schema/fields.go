// Package schema describes Go types as the session's API shows them: their fields in JSON, and their OpenAPI schemas, whose
// descriptions are the comments on types and fields in the source.
package schema

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Field is a field of a struct as it appears in JSON.
type Field struct {
	// Name is the name in JSON: the name in the tag, else the Go name with a lower-case first letter.
	Name string
	// Index is for reflect's FieldByIndex.
	Index []int
	Type  reflect.Type
	// Owner and GoName identify the declaration of the field.
	Owner  reflect.Type
	GoName string
	// Optional fields are omitted when they are empty.
	Optional bool
}

// Fields returns the exported fields of a struct, in order, except functions and channels. As in encoding/json, the fields of
// embedded structs are included.
func Fields(t reflect.Type) []Field {
	var out []Field
	seen := map[string]int{} // name to depth
	type level struct {
		t     reflect.Type
		index []int
	}
	for depth, next := 0, []level{{t, nil}}; len(next) > 0; depth++ {
		current := next
		next = nil
		for _, l := range current {
			for i := range l.t.NumField() {
				f := l.t.Field(i)
				index := append(slices.Clone(l.index), i)
				name, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
				if name == "-" && !tagged {
					continue
				}
				if f.Anonymous && name == "" {
					visible := f.IsExported() || f.Type.Kind() == reflect.Struct
					if e := deref(f.Type); visible && e.Kind() == reflect.Struct && !leaf(e) {
						next = append(next, level{e, index})
						continue
					}
				}
				if !f.IsExported() || !plain(f.Type) {
					continue
				}
				if name == "" {
					name = lower(f.Name)
				}
				if d, ok := seen[name]; ok && d <= depth {
					continue
				}
				seen[name] = depth
				_, hasTag := f.Tag.Lookup("json")
				out = append(out, Field{Name: name, Index: index, Type: f.Type, Owner: l.t, GoName: f.Name,
					Optional: !hasTag || strings.Contains(options, "omit")})
			}
		}
	}
	return out
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// plain reports whether values of a type have a meaning outside the program.
func plain(t reflect.Type) bool {
	switch t = deref(t); t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	case reflect.Slice, reflect.Array:
		return plain(t.Elem())
	case reflect.Map:
		return plain(t.Elem()) && plain(t.Key())
	}
	return true
}

// lower converts a Go name to a JSON name: "CITimeout" is "ciTimeout", "PID" is "pid".
func lower(name string) string {
	r := []rune(name)
	n := 0
	for n < len(r) && unicode.IsUpper(r[n]) {
		n++
	}
	if n > 1 && n < len(r) && unicode.IsLower(r[n]) {
		n--
	}
	for i := range n {
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}
