package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hone-dev/hone/internal/cli/command"
)

// stableFile lists the fields that documents have had at any time.
const stableFile = "testdata/documents.txt"

// TestDocumentsAreStable checks that no document has lost a field, and that no field has another type than before. With -update, new fields
// are added. To remove one, which breaks programs, edit the file.
func TestDocumentsAreStable(t *testing.T) {
	now := documentFields(t)
	text, err := os.ReadFile(stableFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	stable := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range stable {
		if line != "" && !slices.Contains(now, line) {
			t.Errorf("a document has changed; it had %s", line)
		}
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(stableFile, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range now {
		if !slices.Contains(stable, line) {
			t.Errorf("%s is not in %s: run the test with -update", line, stableFile)
		}
	}
}

// documentFields lists the fields of all documents, a line each: the type, the field, its type, and whether it may be absent.
func documentFields(t *testing.T) (lines []string) {
	t.Helper()
	var out bytes.Buffer
	if code := Main([]string{"dump", "json-schema"}, &out, io.Discard); code != command.ExitOK {
		t.Fatalf("dump json-schema: %d", code)
	}
	var doc jsonschema.Schema
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, of := range doc.Defs {
		if strings.HasPrefix(name, "hone ") {
			lines = append(lines, name+": "+typeName(of))
			continue
		}
		for field, is := range of.Properties {
			line := name + "." + field + ": " + typeName(is)
			if !slices.Contains(of.Required, field) {
				line += ", may be absent"
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// typeName names the type that a schema describes.
func typeName(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/$defs/")
	case len(s.AllOf) == 1:
		return typeName(s.AllOf[0])
	case len(s.AnyOf) > 0:
		var all []string
		for _, one := range s.AnyOf {
			all = append(all, typeName(one))
		}
		return strings.Join(all, " or ")
	case s.Type == "array":
		return "list of " + typeName(s.Items)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "map of " + typeName(s.AdditionalProperties)
	case s.Format == "date-time":
		return "time"
	}
	return s.Type
}
