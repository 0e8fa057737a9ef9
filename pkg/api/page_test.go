package api

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the page of events")

// page is the path of the reference of the events.
const page = "../../web/docs/reference/events.md"

// TestPage checks that the page matches the types and their comments.
func TestPage(t *testing.T) {
	got := pageOf(t)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the page of events is stale, run make generate:\n%s", diff)
	}
}

// TestEventTypes checks that every body belongs to a type, and is a field of Event.
func TestEventTypes(t *testing.T) {
	fields, used := map[string]bool{}, map[string]bool{"": true}
	for i := range reflect.TypeFor[Event]().NumField() {
		fields[jsonName(reflect.TypeFor[Event]().Field(i))] = true
	}
	names := map[string]bool{}
	for _, e := range EventTypes {
		if e.Body != "" && !fields[e.Body] {
			t.Errorf("%s: Event has no field %q", e.Name, e.Body)
		}
		if names[e.Name] || e.Doc == "" {
			t.Errorf("%s is listed twice, or has no documentation", e.Name)
		}
		names[e.Name], used[e.Body] = true, true
	}
	for i := range reflect.TypeFor[Event]().NumField() {
		if f := reflect.TypeFor[Event]().Field(i); f.Type.Kind() == reflect.Pointer && !used[jsonName(f)] {
			t.Errorf("no type of events has %q", jsonName(f))
		}
	}
}

func pageOf(t *testing.T) string {
	docs := readDocs(t)
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Generated from package pkg/api; make generate writes it. -->\n\n# Events\n\n%s\n\n", docs["Event"])
	b.WriteString("```\nhone events -o json\nhone events api web --type update --type problem --since 5m\n```\n\n")
	fmt.Fprintf(&b, "The schema has version %d; each event states it. Within one version types and fields are added, never changed or removed: "+
		"ignore the ones that you do not know.\n\n## Types\n\n| type | field | meaning |\n|---|---|---|\n", EventVersion)
	for _, e := range EventTypes {
		body := ""
		if e.Body != "" {
			body = "`" + e.Body + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, body, e.Doc)
	}
	b.WriteString("\n## Fields\n\nFields whose names are in brackets are absent when they are empty.\n")
	queue, done := []reflect.Type{reflect.TypeFor[Event]()}, map[reflect.Type]bool{reflect.TypeFor[Event](): true}
	for len(queue) > 0 {
		kind := queue[0]
		queue = queue[1:]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", kind.Name(), docs[kind.Name()])
		for i := range kind.NumField() {
			f := kind.Field(i)
			name := jsonName(f)
			if strings.Contains(f.Tag.Get("json"), ",omit") {
				name = "[" + name + "]"
			}
			text, of := typeName(f.Type)
			if of != nil && !done[of] {
				done[of] = true
				queue = append(queue, of)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, text, docs[kind.Name()+"."+f.Name])
		}
	}
	return b.String()
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// typeName describes the type of a field in JSON. of is its struct type, if the page describes one.
func typeName(t reflect.Type) (text string, of reflect.Type) {
	switch {
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		text, of = typeName(t.Elem())
		return "list of " + text, of
	case t.PkgPath() == "time":
		return "time, RFC 3339", nil
	case t.Name() == "Milliseconds":
		return "milliseconds", nil
	case t.Kind() == reflect.Struct:
		return fmt.Sprintf("[%s](#%s)", t.Name(), strings.ToLower(t.Name())), t
	case t.Kind() == reflect.Bool:
		return "bool", nil
	case t.Kind() == reflect.String:
		return "text", nil
	}
	return "number", nil
}

// readDocs returns the comments of this package's types, by name, and of their fields, by TYPE.FIELD.
func readDocs(t *testing.T) map[string]string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.TypeSpec)
				docs[s.Name.Name] = strings.TrimSpace(strings.ReplaceAll(paragraphs(d.Doc.Text()), "|", "\\|"))
				fields, ok := s.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						docs[s.Name.Name+"."+name.Name] = strings.ReplaceAll(strings.Join(strings.Fields(f.Doc.Text()), " "), "|", "\\|")
					}
				}
			}
			return false
		})
	}
	return docs
}

// paragraphs joins the lines of each paragraph.
func paragraphs(text string) string {
	var out []string
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		out = append(out, strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(out, "\n\n")
}
