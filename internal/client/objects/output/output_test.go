package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
)

func object(name string, fields map[string]any) unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{"apiVersion": "a/v1", "kind": "A", "metadata": map[string]any{"name": name}, "spec": fields}}
}

func TestPrinter(t *testing.T) {
	o := object("x", map[string]any{"n": int64(1), "list": []any{"a", "b"}, "nil": nil, "text": "\u007f\u009b2J"})
	for _, tc := range []struct {
		flags       Flags
		want, fails string
	}{
		{flags: Flags{Output: "name"}, want: "a.a/x\n"},
		{flags: Flags{}, want: "a.a/x\n"},
		{flags: Flags{Output: "jsonpath={.spec.list[1]}"}, want: "b"},
		{flags: Flags{Output: "jsonpath", Template: "{.spec.n}"}, want: "1"},
		{flags: Flags{Output: "jsonpath={.spec.nope}", AllowMissing: true}, want: ""},
		{flags: Flags{Output: "go-template={{.kind}}"}, want: "A"},
		{flags: Flags{Output: `go-template={{range $i, $x := .spec.list}}{{$i}}{{$x}} {{end}}{{printf "%03d" .spec.n}} {{.nope}}`, AllowMissing: true},
			want: "0a 1b 001 <no value>"},
		{flags: Flags{Output: `go-template={{exists .spec "list" 1}} {{exists .spec "list" 2}} {{exists .spec "nope" 2}} {{base64decode "aGk="}}`},
			want: "true false false hi"},
		{flags: Flags{Output: "go-template={{.kind}}{{.nope}}"}, fails: `no entry for key "nope"`},
		{flags: Flags{Output: "yaml"}, want: "apiVersion: a/v1\nkind: A\nmetadata:\n  name: x\nspec:\n  list:\n  - a\n  - b\n  \"n\": 1\n  nil: null\n  text: \"\\x7F\\x9B2J\"\n"},
		{flags: Flags{Output: "kyaml"}, want: "---\n{\n  apiVersion: \"a/v1\",\n  kind: \"A\",\n  metadata: {\n    name: \"x\",\n  },\n  spec: {\n    list: [\n      \"a\",\n      \"b\",\n    ],\n    \"n\": 1,\n    nil: null,\n    text: \"\\x7f\\u009b2J\",\n  },\n}\n"},
		{flags: Flags{Output: "custom-columns=N:.metadata.name,L:spec.list,X:{.spec.nil},Y:.spec.nope,Z:.spec.list[*]", tables: true},
			want: "N     L       X        Y        Z\nx     [a b]   <none>   <none>   a,b\n"},
		{flags: Flags{Output: "custom-columns=N:.metadata.name", tables: true, Table: TableFlags{NoHeaders: true}}, want: "x\n"},
		{flags: Flags{Output: "custom-columns=N:.metadata.name"}, fails: `unknown output "custom-columns"`},
		{flags: Flags{Output: "custom-columns=N", tables: true}, fails: "not HEAD:PATH"},
		{flags: Flags{Output: "custom-columns=N:{.x", tables: true}, fails: "the JSON path"},
		{flags: Flags{Output: "xml"}, fails: "choose one of: json, yaml"},
		{flags: Flags{Output: "jsonpath"}, fails: "for example: -o jsonpath="},
		{flags: Flags{Output: "jsonpath-file=/nope/nope"}, fails: "cannot read the template"},
		{flags: Flags{Output: "go-template={{"}, fails: "cannot be understood"},
	} {
		p, err := tc.flags.Printer()
		var b bytes.Buffer
		if err == nil {
			err = p.PrintObj(&o, &b)
		}
		if tc.fails != "" {
			if err == nil || !strings.Contains(problem.Text(err), tc.fails) {
				t.Errorf("%s: %v, want %q", tc.flags.Output, err, tc.fails)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, b.String()); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tc.flags.Output, err, diff)
		}
	}
}

func TestSort(t *testing.T) {
	values := map[string]any{"ten": int64(10), "two": 2.5, "text": "a", "later": "b", "yes": true, "no": false}
	var found objects.Found
	for _, name := range []string{"later", "ten", "none", "yes", "text", "two", "no"} {
		found.Objects = append(found.Objects, object(name, map[string]any{"v": values[name]}))
	}
	f := Flags{Table: TableFlags{SortBy: ".spec.v"}}
	if err := f.Sort(&found); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range found.Objects {
		got = append(got, u.GetName())
	}
	if diff := cmp.Diff("none no yes two ten text later", strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
	f.Table.SortBy = ".nope"
	if err := f.Sort(&found); err == nil {
		t.Error("sorted by a missing field")
	}
}
