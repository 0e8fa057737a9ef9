package k8sobject

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/tiltfile/yamlstream"
)

func TestParseObjects(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string // identities, or the error
	}{
		{"custom data of any shape", "{apiVersion: x/v1, kind: Thing, metadata: {name: a}, data: [1], stringData: x, items: y, spec: z}", "thing/a"},
		{"a kind that only ends in List", "{apiVersion: x/v1, kind: AllowList, metadata: {name: a}}", "allowlist/a"},
		{"a kind that has items and is no list", "{apiVersion: x/v1, kind: AllowList, metadata: {name: a}, items: {b: c}}", "allowlist/a"},
		{"list without items", "{apiVersion: v1, kind: List}", ""},
		{"list with null items", "{apiVersion: v1, kind: List, items: null}", ""},
		{"list of scalars", "{apiVersion: v1, kind: List, items: [a]}", "f, document 1, line 1: item 1 of the List is not an object"},
		{"broken item", "{apiVersion: v1, kind: List, items: [{kind: A}]}", "f, document 1, line 1: item 1 of the List: the A has no apiVersion"},
		{"sequence", "- a", "f, document 1, line 1: want an object with apiVersion and kind, got a list"},
		{"number as name", "{apiVersion: v1, kind: A, metadata: {name: 5}}", "f, document 1, line 1: metadata.name must be a string, not a number"},
		{"labels of a wrong shape", "{apiVersion: v1, kind: A, metadata: {name: a, labels: [x]}}", "f, document 1, line 1: metadata.labels must be a mapping, not a list"},
		{"generated name", "{apiVersion: v1, kind: A, metadata: {generateName: a-}}", "f, document 1, line 1: the A has generateName, but needs a metadata.name so that it can be applied again"},
		{"broken pod spec", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: [x]}", "deployment/a"},
		{"null", "null\n---\n~\n", ""},
		{"anchors", "apiVersion: v1\nkind: A\nmetadata: &m {name: a}\nspec: {<<: *m}\n", "a/a"},
	} {
		objs, err := Parse(nil, nil, c.in, "f")
		var ids []string
		for _, o := range objs {
			ids = append(ids, o.ID().String())
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestObjectJSONIsCanonical(t *testing.T) {
	a, err := Parse(nil, nil, "kind: A\nmetadata: {name: a, labels: {z: x, b: 'y'}}\napiVersion: v1\nspec: {big: 12345678901234567, f: 1.50}\n", "f")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"v1","kind":"A","metadata":{"labels":{"b":"y","z":"x"},"name":"a"},"spec":{"big":12345678901234567,"f":1.5}}`
	if diff := cmp.Diff(want, a[0].JSON); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsComeInOrder(t *testing.T) {
	var b strings.Builder
	for range 50 {
		b.WriteString("apiVersion: v1\nkind: A\n---\n")
	}
	if _, err := Parse(nil, nil, b.String(), "f"); err == nil || !strings.HasPrefix(err.Error(), "f, document 1, line 1:") {
		t.Errorf("got %v, want the first error", err)
	}
}

func TestSelector(t *testing.T) {
	for text, want := range map[string]string{
		"web": "true true", "web:deployment": "true false", "WEB:Deployment:Default": "true false", "web::default": "true true",
		"web:deployment:other": "false false", "web:deployment:default:apps": "true false", "other": "false false",
	} {
		sel, err := ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		d, s := &Object{}, &Object{}
		d.Name, d.Kind, d.APIVersion = "web", "Deployment", "apps/v1"
		s.Name, s.Kind, s.APIVersion = "web", "Service", "v1"
		got := strings.TrimSpace(strings.Join([]string{boolText(sel.Matches(d, "")), boolText(sel.Matches(s, ""))}, " "))
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, bad := range []string{"", ":kind", "a:b:c:d:e"} {
		if _, err := ParseSelector(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func FuzzSplitYAML(f *testing.F) {
	for _, s := range []string{"a: 1\n---\nb: 2\n", "---\n...\n", "%YAML 1.2\n--- x\n", "\ufeff# c\n", "apiVersion: v1\nkind: List\nitems:\n- kind: X\n", "a: &x [*x]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		last := 0
		for i, d := range yamlstream.Split(in) {
			if d.Index != i+1 || d.Line < max(1, last) || !strings.Contains(in, d.Text) {
				t.Fatalf("document %d of %q: %+v", i, in, d)
			}
			last = d.Line
			data, err := d.JSON("f")
			if err == nil && !json.Valid(data) {
				t.Fatalf("%q gave invalid JSON %q", d.Text, data)
			}
		}
		objs, err := Parse(nil, nil, in, "f")
		for _, o := range objs {
			if err == nil && (o.Kind == "" || o.Name == "" || !json.Valid([]byte(o.JSON))) {
				t.Fatalf("%q gave %+v", in, o)
			}
		}
	})
}
