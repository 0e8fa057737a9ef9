package server

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the types of the web page")

// typesFile is the path of the types of the web page.
const typesFile = "../../../web/src/api.ts"

// typeSchema is a schema, as far as the types of the page need it.
type typeSchema struct {
	Ref         string                `json:"$ref"`
	Type        string                `json:"type"`
	Description string                `json:"description"`
	Properties  map[string]typeSchema `json:"properties"`
	Required    []string              `json:"required"`
	Items       *typeSchema           `json:"items"`
	Values      *typeSchema           `json:"additionalProperties"`
	AllOf       []typeSchema          `json:"allOf"`
}

// TestPageTypes checks that the types of the web page are those that the server describes at /openapi/v3/hone.
func TestPageTypes(t *testing.T) {
	f := newFixture()
	_, body := f.do(request("GET", "/openapi/v3/"+openAPIName, ""))
	var doc struct {
		Paths      map[string]any
		Components struct{ Schemas map[string]typeSchema }
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("// Generated from what the session serves at /openapi/v3/" + openAPIName + "; make generate writes it.\n")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		of := doc.Components.Schemas[name]
		fmt.Fprintf(&b, "\n%sexport interface %s {\n", comment("", of.Description), name)
		for _, field := range slices.Sorted(maps.Keys(of.Properties)) {
			is := of.Properties[field]
			key := field
			if !slices.Contains(of.Required, field) {
				key += "?"
			}
			fmt.Fprintf(&b, "%s  %s: %s;\n", comment("  ", is.Description), key, is.script())
		}
		b.WriteString("}\n")
	}
	got := b.String()
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

func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	return indent + "/** " + strings.ReplaceAll(text, "*/", "* /") + " */\n"
}

// script returns the type in TypeScript.
func (s typeSchema) script() string {
	switch {
	case s.Ref != "":
		return shortName(strings.ReplaceAll(s.Ref, "/", "."))
	case len(s.AllOf) == 1:
		return s.AllOf[0].script()
	case s.Type == "array":
		inner := s.Items.script()
		if strings.Contains(inner, "|") {
			inner = "(" + inner + ")"
		}
		return inner + "[]"
	case s.Type == "object" && s.Values != nil:
		return "Record<string, " + s.Values.script() + ">"
	case s.Type == "boolean", s.Type == "string":
		return s.Type
	case s.Type == "integer", s.Type == "number":
		return "number"
	}
	return "unknown"
}
