package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/api/schema"
	"github.com/hone-dev/hone/internal/cli/command"
)

// definitions precedes the names of schemas in references of JSON Schema.
const definitions = "#/$defs/"

// JSON describes the documents that commands print for programs.
type JSON struct{ Root *cobra.Command }

// document is a document that a command prints.
type document struct {
	command string
	schema  map[string]any
}

// documents returns the documents of all commands, and adds the schemas of their types.
func (p JSON) documents(d *schema.Definitions) (out []document) {
	for _, c := range (CLI{Root: p.Root}).Commands() {
		for _, value := range command.Documents(c) {
			out = append(out, document{c.CommandPath(), d.Define(reflect.TypeOf(value))})
		}
	}
	return out
}

// Schema writes a JSON Schema. Its definitions are all types, by name, and for each command one that describes its document, such as
// "hone status".
func (p JSON) Schema(w io.Writer) error {
	d := schema.NewDefinitions(definitions)
	d.Strict = true
	all := map[string]any{}
	for _, is := range p.documents(d) {
		s := shortened(is.schema)
		if others, ok := all[is.command].(map[string]any); ok {
			s = map[string]any{"anyOf": []any{others, s}}
		}
		all[is.command] = s
	}
	for name, s := range d.All {
		all[short(name)] = shortened(s)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Documents of hone's commands", "$defs": all})
}

// shortened returns a schema whose references have short names, without the keywords that only Kubernetes knows.
func shortened(s any) any {
	switch s := s.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range s {
			if k != "x-kubernetes-preserve-unknown-fields" {
				out[k] = shortened(v)
			}
		}
		if ref, ok := s["$ref"].(string); ok {
			out["$ref"] = definitions + short(strings.TrimPrefix(ref, definitions))
		}
		return out
	case []any:
		out := make([]any, len(s))
		for i, v := range s {
			out[i] = shortened(v)
		}
		return out
	}
	return s
}

// Write writes the page about the documents.
func (p JSON) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(`# Documents for programs

<!-- Generated from the types of the documents: edit the comments on the types, then run make generate. -->

With ` + "`-o json`" + ` these commands print one document, and with ` + "`-o yaml`" + ` the same as YAML. Fields are added in new versions of hone; the
fields that are here keep their names, types and meanings. So a program must not mind a field that it does not know. A field that may be
absent has no value then. Times are in the form of RFC 3339. ` + "`hone dump json-schema`" + ` prints all this as a JSON Schema, in which ` + "`#/$defs/hone status`" + `
describes the document of ` + "`hone status`" + `.

Commands that print one object per line, as things happen, are described with their objects: ` + "[`hone events` and `hone ci`](events.md)" + `.

| command | document |
|---|---|
`)
	d := schema.NewDefinitions(prefix)
	d.Strict = true
	for _, is := range p.documents(d) {
		fmt.Fprintf(&b, "| %s | %s |\n", code(is.command+" -o json"), typeOf(is.schema))
	}
	types(&b, d)
	_, err := b.WriteTo(w)
	return err
}
