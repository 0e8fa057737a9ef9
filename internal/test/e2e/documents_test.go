package e2e

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// TestDocuments runs each command that prints a document, and holds the document against the schema that hone prints. Here, unlike for users,
// fields that the schema does not have are an error.
func TestDocuments(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('all.yaml')
k8s_resource(new_name='config', objects=['app'])
local_resource('bad', 'echo src/a.go:3:1: undefined: x; exit 1', deps=['src'])
local_resource('late', 'true', resource_deps=['bad'])
test('unit', 'echo fine')
test('broken', 'echo no; exit 1')
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
-- src/a.go --
package a
`)
	defs := p.schema()
	s := p.up()
	s.ready("config")
	s.hone("wait", "--for=jsonpath={.status.updateStatus}=error", "uiresource/bad", "uiresource/broken", "--timeout=60s")
	p.write("src/a.go", "package a // edited\n")
	running, project := []string{"--port"}, []string{"--namespace", p.namespace}
	var run []string
	for _, tc := range []struct {
		command string
		args    []string
		more    []string
	}{
		{"hone status", nil, running},
		{"hone why", []string{"bad"}, running},
		{"hone why", []string{"late"}, running},
		{"hone settle", nil, running},
		{"hone settle", []string{"config"}, running},
		{"hone diff", nil, running},
		{"hone test", nil, running},
		{"hone token create", []string{"--name", "bot", "--allow", "logs"}, running},
		{"hone token list", nil, running},
		{"hone kubeconfig", []string{"--read-only"}, running},
		{"hone sessions", nil, nil},
		{"hone preview", nil, project},
		{"hone drift", nil, project},
		{"hone history", nil, project},
		{"hone history", []string{"1"}, project},
		{"hone state show", nil, project},
		{"hone doctor", nil, project},
	} {
		args := slices.Concat(strings.Fields(tc.command)[1:], tc.args)
		if len(tc.more) > 0 {
			args = append(args, tc.more...)
			if tc.more[0] == "--port" {
				args = append(args, strconv.Itoa(s.port))
			}
		}
		doc := p.document(append(args, "-o", "json")...)
		if err := validate(defs, tc.command, doc); err != nil {
			t.Errorf("hone %s: %v\n%.2000s", strings.Join(args, " "), err, doc)
		}
		run = append(run, tc.command)
	}
	slices.Sort(run)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if strings.HasPrefix(name, "hone ") {
			all = append(all, name)
		}
	}
	if diff := cmp.Diff(all, slices.Compact(run)); diff != "" {
		t.Errorf("commands with a document (-all +run):\n%s", diff)
	}
}

// schema returns the definitions of the schema of documents. Every object has only the documented fields.
func (p *project) schema() map[string]*jsonschema.Schema {
	p.t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(p.document("dump", "json-schema"), &s); err != nil {
		p.t.Fatal(err)
	}
	for _, of := range s.Defs {
		if len(of.Properties) > 0 {
			of.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	return s.Defs
}

// validate holds a document against a definition.
func validate(defs map[string]*jsonschema.Schema, name string, doc []byte) error {
	root := &jsonschema.Schema{Defs: map[string]*jsonschema.Schema{}, Ref: "#/$defs/" + name}
	for n, s := range defs {
		root.Defs[n] = s.CloneSchemas()
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(doc, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

// document runs a command and returns its output, whatever its exit code is.
func (p *project) document(args ...string) []byte {
	p.t.Helper()
	c := p.command(args...)
	out, err := c.Output()
	if len(out) == 0 {
		p.t.Fatalf("hone %s prints nothing: %v", strings.Join(args, " "), err)
	}
	return out
}
