package reference

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/schema"
)

// prefix precedes the names of schemas in references.
const prefix = "#/components/schemas/"

// API is the page of the kinds of objects that the session's API serves.
type API struct {
	Kinds []projection.Kind
	// Listed are kinds that are listed without their fields, which are internal to hone and may change.
	Listed []projection.Kind
}

// Write writes the whole page.
func (p API) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(`# The session's API

<!-- Generated from the API's OpenAPI schemas: edit the comments on the types, then run make generate. -->

A running session serves these objects by the conventions of Kubernetes, at /apis/GROUP/VERSION/PLURAL. hone get, hone describe,
hone patch and similar commands work on them, and so does kubectl.
`)
	p.list(&b, "## Kinds", p.Kinds, func(k projection.Kind) string { return fmt.Sprintf("[%s](#%s)", k.Name, k.Plural) })
	definitions := schema.NewDefinitions(prefix)
	for _, k := range sorted(p.Kinds) {
		kind(&b, definitions, k)
	}
	types(&b, definitions)
	b.WriteString("\n## Tables\n\nThe internal state of hone, read-only. hone explain TABLE --recursive describes the fields.\n")
	p.list(&b, "### All tables", p.Listed, func(k projection.Kind) string { return k.Name })
	_, err := b.WriteTo(w)
	return err
}

// list writes a table of kinds.
func (p API) list(b *bytes.Buffer, title string, all []projection.Kind, name func(projection.Kind) string) {
	fmt.Fprintf(b, "\n%s\n\n| kind | in requests | of | |\n|---|---|---|---|\n", title)
	for _, k := range sorted(all) {
		fmt.Fprintf(b, "| %s | %s | %s/%s | %s |\n", name(k), code(strings.Join(append([]string{k.Plural}, k.ShortNames...), ", ")), k.Group, k.Version, cell(k.Doc))
	}
}

// sorted returns kinds in the order in which requests name them.
func sorted(all []projection.Kind) []projection.Kind {
	return slices.SortedFunc(slices.Values(all), func(a, b projection.Kind) int { return cmp.Compare(a.Plural, b.Plural) })
}

func kind(b *bytes.Buffer, d *schema.Definitions, k projection.Kind) {
	o := d.Object(k.New(), k.Name, k.Doc)
	delete(d.All, k.Name)
	fmt.Fprintf(b, "\n### %s\n\n%s\n", k.Plural, k.Doc)
	fields(b, o, "kind", "apiVersion", "metadata")
}

// types documents the types of the fields of all kinds, except those that every Kubernetes object has.
func types(b *bytes.Buffer, d *schema.Definitions) {
	b.WriteString("\n## Types\n")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(d.All)), func(n string) bool { return strings.HasPrefix(n, "io.k8s.") })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(short(a), short(b)) })
	for _, n := range names {
		o, _ := d.All[n].(map[string]any)
		fmt.Fprintf(b, "\n### %s\n", short(n))
		if doc, _ := o["description"].(string); doc != "" {
			fmt.Fprintf(b, "\n%s\n", doc)
		}
		fields(b, o)
	}
}

// fields writes a table of the fields of an object.
func fields(b *bytes.Buffer, o map[string]any, except ...string) {
	properties, _ := o["properties"].(map[string]any)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(properties)), func(n string) bool { return slices.Contains(except, n) })
	if len(names) == 0 {
		return
	}
	b.WriteString("\n| field | type | |\n|---|---|---|\n")
	for _, n := range names {
		s, _ := properties[n].(map[string]any)
		doc, _ := s["description"].(string)
		fmt.Fprintf(b, "| %s | %s | %s |\n", code(n), typeOf(s), cell(doc))
	}
}

// typeOf returns the name of the type that a schema describes.
func typeOf(s map[string]any) string {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, prefix)
		if strings.HasPrefix(name, "io.k8s.") {
			return short(name)
		}
		return fmt.Sprintf("[%s](#%s)", short(name), strings.ToLower(strings.ReplaceAll(short(name), ".", "")))
	}
	if all, ok := s["allOf"].([]any); ok && len(all) == 1 {
		one, _ := all[0].(map[string]any)
		return typeOf(one)
	}
	kind, _ := s["type"].(string)
	switch kind {
	case "array":
		items, _ := s["items"].(map[string]any)
		return "list of " + typeOf(items)
	case "object":
		if of, ok := s["additionalProperties"].(map[string]any); ok {
			return "map of " + typeOf(of)
		}
	}
	if format, _ := s["format"].(string); format == "date-time" {
		return "time"
	}
	return kind
}

// short returns the name of a type with its package: "v1alpha1.CmdSpec" of "dev.hone.pkg.api.v1alpha1.CmdSpec".
func short(name string) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}
