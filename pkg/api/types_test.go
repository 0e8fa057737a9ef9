package api

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// typesFile is the path of the types of the web page.
const typesFile = "../../web/src/api.ts"

// pageTypes are the types that the web page sends and receives; those that they refer to come with them.
var pageTypes = []reflect.Type{reflect.TypeFor[Page](), reflect.TypeFor[LogNews](), reflect.TypeFor[LogWindow](), reflect.TypeFor[LogFound](),
	reflect.TypeFor[TriggerRequest](), reflect.TypeFor[RestartRequest](), reflect.TypeFor[SwitchRequest](), reflect.TypeFor[PauseRequest](), reflect.TypeFor[Failure]()}

// TestTypes checks that the types of the web page match those of this package, with their comments.
func TestTypes(t *testing.T) {
	got := typesOf(t)
	if *update {
		if err := os.WriteFile(typesFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(typesFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale, run make generate:\n%s", typesFile, diff)
	}
}

func typesOf(t *testing.T) string {
	docs := readDocs(t)
	var b strings.Builder
	b.WriteString("// Generated from package pkg/api; make generate writes it.\n")
	queue, done := append([]reflect.Type(nil), pageTypes...), map[reflect.Type]bool{}
	refer := func(of reflect.Type) {
		if of != nil && !done[of] {
			queue = append(queue, of)
		}
	}
	for len(queue) > 0 {
		kind := queue[0]
		queue = queue[1:]
		if done[kind] {
			continue
		}
		done[kind] = true
		var parents, fields []string
		for i := range kind.NumField() {
			f := kind.Field(i)
			if f.Anonymous {
				parents = append(parents, f.Type.Name())
				refer(f.Type)
				continue
			}
			name := jsonName(f)
			text, of := script(f.Type)
			refer(of)
			if strings.Contains(f.Tag.Get("json"), ",omit") {
				name += "?"
			}
			if doc := docs[kind.Name()+"."+f.Name]; doc != "" {
				fields = append(fields, "  /** "+doc+" */")
			}
			fields = append(fields, fmt.Sprintf("  %s: %s;", name, text))
		}
		extends := ""
		if parents != nil {
			extends = " extends " + strings.Join(parents, ", ")
		}
		fmt.Fprintf(&b, "\n/** %s */\nexport interface %s%s {\n%s\n}\n", strings.ReplaceAll(docs[kind.Name()], "\n\n", "\n *\n * "), kind.Name(), extends, strings.Join(fields, "\n"))
	}
	return b.String()
}

// script returns a type in TypeScript. of is its struct type, if it has a name of its own.
func script(t reflect.Type) (text string, of reflect.Type) {
	switch {
	case t.Kind() == reflect.Pointer:
		return script(t.Elem())
	case t.Kind() == reflect.Slice:
		text, of = script(t.Elem())
		return text + "[]", of
	case t.PkgPath() == "time", t.Kind() == reflect.String:
		return "string", nil // times are RFC 3339
	case t.Kind() == reflect.Struct:
		return t.Name(), t
	case t.Kind() == reflect.Bool:
		return "boolean", nil
	}
	return "number", nil
}
