package objects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name, text, want, fails string
	}{
		{name: "nothing", text: ""},
		{name: "comments and empty documents", text: "# hi\n---\n---\n# ho\n"},
		{name: "documents", text: "apiVersion: a/v1\nkind: A\nmetadata: {name: x}\n---\napiVersion: a/v1\nkind: B\nmetadata: {name: z}\n", want: "A/x B/z"},
		{name: "JSON", text: `{"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "x"}}`, want: "A/x"},
		{name: "a list", text: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: a/v1, kind: A, metadata: {name: x}}\n- {apiVersion: a/v1, kind: A, metadata: {name: z}}\n", want: "A/x A/z"},
		{name: "a generated name", text: "apiVersion: a/v1\nkind: A\nmetadata: {generateName: x-}\n", want: "A/"},
		{name: "the default namespace", text: "apiVersion: a/v1\nkind: A\nmetadata: {name: x, namespace: default}\n", want: "A/x"},
		{name: "no kind", text: "a: b", fails: "f, document 1: it is not an object"},
		{name: "no object", text: "- a", fails: "it is not an object"},
		{name: "no name", text: "apiVersion: a/v1\nkind: A\n", fails: "a A has no name"},
		{name: "another namespace", text: "apiVersion: a/v1\nkind: A\nmetadata: {name: x, namespace: z}\n", fails: "in a namespace"},
		{name: "not YAML", text: "a: b\n---\n{", fails: "document 1: it is not an object"},
		{name: "not YAML either", text: "{", fails: "neither YAML nor JSON"},
		{name: "a duplicate field", text: "apiVersion: a/v1\nkind: A\nkind: B\n", fails: `key "kind" already set`},
	} {
		all, err := Decode("f", strings.NewReader(tc.text))
		if tc.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: %v, want %q", tc.name, err, tc.fails)
			}
			continue
		}
		var got []string
		for _, u := range all {
			if u.GetNamespace() != "" {
				t.Errorf("%s: a namespace", tc.name)
			}
			got = append(got, u.GetKind()+"/"+u.GetName())
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, " ")); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tc.name, err, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("apiVersion: a/v1\nkind: A\nmetadata: {name: x}\n---\nkind: List\nitems: [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Decode("f", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, u := range all {
			if u.GetKind() == "" || u.GetName() == "" && u.GetGenerateName() == "" {
				t.Errorf("%q: %v", text, u)
			}
		}
	})
}
