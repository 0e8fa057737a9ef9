package description

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mitchellh/go-wordwrap"

	"github.com/hone-dev/hone/internal/client/objects"
)

const (
	// textWidth is the width of explanations, in characters; descriptions end two before it.
	textWidth = 80
	// mostValues is the number of values of an enumeration that a list of fields shows.
	mostValues = 4
)

// writeFields writes the documentation of a kind, or of one of its fields, as "kubectl explain" does. hone renders it itself:
// kubectl's templates call methods by name, which keeps every method of every type in the program, 10 MB.
func writeFields(s *objects.Client, k objects.Kind, path []string, recursive bool, out io.Writer) error {
	all, err := schemasOf(s, k)
	if err != nil {
		return err
	}
	found, err := all.field(k, path)
	if err != nil {
		return err
	}
	var b strings.Builder
	if k.GVR.Group != "" {
		fmt.Fprintf(&b, "GROUP:      %s\n", k.GVR.Group)
	}
	fmt.Fprintf(&b, "KIND:       %s\nVERSION:    %s\n\n", k.Name, k.GVR.Version)
	if len(path) > 0 {
		fmt.Fprintf(&b, "FIELD: %s <%s>\n", path[len(path)-1], all.typeOf(found))
		if values := valuesOf(found); len(values) > 0 {
			fmt.Fprintf(&b, "ENUM:\n    %s", strings.Join(values, "\n    "))
		}
		b.WriteString("\n\n")
	}
	text := strings.Join(all.descriptions(found), "\n")
	if text == "" {
		text = "<empty>"
	} else {
		text += "\n"
	}
	b.WriteString("DESCRIPTION:\n" + indented(4, wordwrap.WrapString(text, textWidth-4)) + "\n")
	l := fieldList{all: all, recursive: recursive, seen: map[string]bool{}}
	l.add(found, 1)
	if l.Len() > 0 {
		b.WriteString("FIELDS:\n" + l.String())
	}
	b.WriteString("\n")
	_, err = io.WriteString(out, b.String())
	return err
}

// fieldList writes the fields of schemas.
type fieldList struct {
	strings.Builder
	all       schemas
	recursive bool
	// seen are the references on the way to the current field: types may contain themselves.
	seen map[string]bool
}

// add writes the fields of a schema, of the elements for a list or a map.
func (l *fieldList) add(s map[string]any, level int) {
	if ref := reference(s); ref != "" {
		if l.seen[ref] {
			return
		}
		l.seen[ref] = true
		defer delete(l.seen, ref)
		s = l.all[ref]
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		f, _ := properties[name].(map[string]any)
		l.field(name, f, slices.Contains(required, any(name)), level)
		if l.recursive && level < maxDepth {
			l.add(f, level+1)
		}
	}
	for _, in := range inside(s) {
		l.add(in, level)
	}
}

// field writes one field, and its description, which a recursive list leaves out.
func (l *fieldList) field(name string, s map[string]any, required bool, level int) {
	fmt.Fprintf(l, "%*s%s\t<%s>", 2*level, "", name, l.all.typeOf(s))
	if required {
		l.WriteString(" -required-")
	}
	if values := valuesOf(s); len(values) > 0 {
		more := ""
		if len(values) > mostValues {
			values, more = values[:mostValues], ", ...."
		}
		fmt.Fprintf(l, "\n%*senum: %s%s", 2*level, "", strings.Join(values, ", "), more)
	}
	l.WriteString("\n")
	if l.recursive {
		return
	}
	text, _ := s["description"].(string)
	if text == "" {
		text = "<no description>"
	}
	l.WriteString(indented(2*level+2, wordwrap.WrapString(text, uint(textWidth-2-2*level))) + "\n\n")
}

// descriptions returns the descriptions in a schema and in the schemas inside of it, the outer one first.
func (all schemas) descriptions(s map[string]any) []string {
	if ref := reference(s); ref != "" {
		s = all[ref]
	}
	var out []string
	if text, _ := s["description"].(string); text != "" {
		out = append(out, text)
	}
	for _, in := range inside(s) {
		out = append(out, all.descriptions(in)...)
	}
	return out
}

// typeOf names the type of a schema: "string", "Condition", "[]Object", "map[string]integer".
func (all schemas) typeOf(s map[string]any) string {
	if items, ok := s["items"].(map[string]any); ok {
		return "[]" + all.typeOf(items)
	}
	if values, ok := s["additionalProperties"].(map[string]any); ok {
		return "map[string]" + all.typeOf(values)
	}
	if list, ok := s["allOf"].([]any); ok && len(list) == 1 && s["properties"] == nil {
		first, _ := list[0].(map[string]any)
		return all.typeOf(first)
	}
	name, _ := s["type"].(string)
	if ref := reference(s); ref != "" {
		if name, _ = all[ref]["type"].(string); name == "" || name == "object" {
			return ref[strings.LastIndexByte(ref, '.')+1:]
		}
	}
	if name == "" || name == "object" {
		return "Object"
	}
	return name
}

// reference returns the name of the schema that a schema refers to, "" if it does not.
func reference(s map[string]any) string {
	ref, _ := s["$ref"].(string)
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// inside returns the schemas that a schema extends, and the schema of its elements.
func inside(s map[string]any) (out []map[string]any) {
	list, _ := s["allOf"].([]any)
	for _, in := range append(slices.Clone(list), s["items"], s["additionalProperties"]) {
		if in, ok := in.(map[string]any); ok {
			out = append(out, in)
		}
	}
	return out
}

// valuesOf returns the values that a schema allows, for people.
func valuesOf(s map[string]any) (out []string) {
	list, _ := s["enum"].([]any)
	for _, v := range list {
		if v == "" {
			v = `""`
		}
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func indented(by int, text string) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}
