package schema

import (
	_ "embed" // for docs.txt
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Definitions collects the schemas of types by name.
type Definitions struct {
	// Prefix comes before a name in references: "#/definitions/" or "#/components/schemas/".
	Prefix string
	All    map[string]any
	// Strict lists the fields that are always present as required.
	Strict bool
}

// NewDefinitions returns an empty collection.
func NewDefinitions(prefix string) *Definitions {
	return &Definitions{Prefix: prefix, All: map[string]any{}}
}

// Shown is implemented by types that appear in JSON as a different value. Shown returns that value; its type is the same for
// all values of a type, including the zero value.
type Shown interface{ Shown() any }

// Restored is implemented by pointers to types whose shown form can be read again: Restore takes a value that Shown returned.
type Restored interface {
	Shown
	Restore(shown any)
}

// modulePath is the prefix of the package paths of this module.
const modulePath = "github.com/hone-dev/hone/"

// Name returns the name of a struct's schema.
func Name(t reflect.Type) string {
	path := strings.ReplaceAll(t.PkgPath(), modulePath, "dev.hone/")
	path = strings.ReplaceAll(path, "k8s.io/apimachinery/", "io.k8s.apimachinery/")
	return strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// Define adds the schemas of a type and of all types that it contains, and returns the schema of the type.
func (d *Definitions) Define(t reflect.Type) map[string]any {
	t = deref(t)
	if t.Implements(reflect.TypeFor[Shown]()) && t.Kind() != reflect.Interface {
		return d.Define(reflect.TypeOf(reflect.Zero(t).Interface().(Shown).Shown()))
	}
	switch {
	case t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[metav1.MicroTime]() || t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[time.Duration]() || t == reflect.TypeFor[metav1.Duration]():
		return map[string]any{"type": "string"}
	case t == reflect.TypeFor[metav1.FieldsV1]() || t == reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	case leaf(t):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if named(t) {
			return map[string]any{"type": "string"}
		}
		return map[string]any{"type": "integer", "format": "int64"}
	case reflect.Int32:
		return map[string]any{"type": "integer", "format": "int32"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number", "format": "double"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string"}
		}
		return map[string]any{"type": "array", "items": d.Define(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": d.Define(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return d.object(t)
		}
		name := Name(t)
		if _, known := d.All[name]; !known {
			d.All[name] = nil // a type may contain itself
			d.All[name] = d.object(t)
		}
		return map[string]any{"$ref": d.Prefix + name}
	case reflect.String:
		return map[string]any{"type": "string"}
	}
	return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
}

// Object adds the schema of a kind's object under the given name, with the given doc, and returns it. object is an empty
// object of the kind. A field of an interface type is described by the value that it holds.
func (d *Definitions) Object(object any, name, doc string) map[string]any {
	v := reflect.Indirect(reflect.ValueOf(object))
	o := d.object(v.Type())
	properties, _ := o["properties"].(map[string]any)
	for _, f := range Fields(v.Type()) {
		if x, err := v.FieldByIndexErr(f.Index); err == nil && x.Kind() == reflect.Interface && !x.IsNil() {
			properties[f.Name] = d.Define(x.Elem().Type())
		}
	}
	if doc != "" {
		o["description"] = doc
	}
	d.All[name] = o
	return o
}

// object returns the schema of a struct. The description of a field is its comment in this module, or else the documentation
// that Kubernetes' own types carry.
func (d *Definitions) object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	swagger := swaggerDoc(t)
	var required []string
	for _, f := range Fields(t) {
		s := d.Define(f.Type)
		if !f.Optional {
			required = append(required, f.Name)
		}
		doc := docOf(f.Owner, f.GoName)
		if doc == "" {
			if doc = swagger[f.Name]; doc == "" && f.Owner != t {
				doc = swaggerDoc(f.Owner)[f.Name]
			}
		}
		if doc != "" {
			if _, ref := s["$ref"]; ref { // keywords next to a reference are ignored
				s = map[string]any{"allOf": []any{s}}
			}
			s["description"] = doc
		}
		properties[f.Name] = s
	}
	o := map[string]any{"type": "object"}
	if required != nil && d.Strict {
		o["required"] = required
	}
	if len(properties) > 0 {
		o["properties"] = properties
	}
	if doc := docOf(t, ""); doc != "" {
		o["description"] = doc
	} else if doc := swagger[""]; doc != "" {
		o["description"] = doc
	}
	return o
}

// swaggerDoc returns the documentation that Kubernetes' own types carry.
func swaggerDoc(t reflect.Type) map[string]string {
	if d, ok := reflect.New(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return d.SwaggerDoc()
	}
	return nil
}

// leaf reports whether a struct is written as a single string.
func leaf(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || p.Implements(reflect.TypeFor[json.Marshaler]())
}

// named reports whether numbers of a type are written as words.
func named(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[interface{ String() string }]())
}

// docsText has a line for each type and field of this module that has a comment: "package.Type.Field<tab>sentences".
//
//go:embed docs.txt
var docsText string

var docs = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(docsText) {
		if key, doc, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			m[key] = doc
		}
	}
	return m
})

// docOf returns the comment on a type, or on one of its fields.
func docOf(t reflect.Type, field string) string {
	path, ours := strings.CutPrefix(t.PkgPath(), modulePath)
	if !ours {
		return ""
	}
	key := path + "." + t.Name()
	if field != "" {
		key += "." + field
	}
	return docs()[key]
}
