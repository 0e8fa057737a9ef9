package deploy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func FuzzDependsOn(f *testing.F) {
	f.Add("apps/Deployment/web")
	f.Add(" /namespaces/n/ConfigMap/c ")
	f.Fuzz(func(t *testing.T, in string) {
		id, ok := parseDependsOn(in)
		if ok && strings.Count(in, "/") != 2 && id.Namespace != strings.Split(strings.TrimSpace(in), "/")[2] {
			t.Errorf("%q is %+v", in, id)
		}
	})
}

func FuzzSplitTag(f *testing.F) {
	f.Add("localhost:5000/a/b:c")
	f.Add("a@sha256:123")
	f.Fuzz(func(t *testing.T, in string) {
		name, tag := splitTag(in)
		if whole := name + ":" + tag; whole != in && (tag != "" || name != in) {
			t.Errorf("%q is %q and %q", in, name, tag)
		}
		if strings.ContainsAny(tag, "/@") {
			t.Errorf("%q has tag %q", in, tag)
		}
	})
}

// FuzzRemoveAt removes fields by paths in the API server's notation.
func FuzzRemoveAt(f *testing.F) {
	f.Add(`{"spec":{"ports":[{"port":80,"protocol":"TCP","prot":1}]}}`, `.spec.ports[port=80,protocol="TCP"].prot`)
	f.Add(`{"a":[[{"b":1}]]}`, `.a[0][0].b`)
	f.Add(`{"a.b":{"c":1}}`, `.a.b.c`)
	f.Add(`{"":{"":1}}`, `..`)
	f.Fuzz(func(t *testing.T, doc, path string) {
		var v any
		if json.Unmarshal([]byte(doc), &v) != nil {
			t.Skip()
		}
		before, _ := json.Marshal(v)
		removed := removeAt(v, path)
		after, _ := json.Marshal(v)
		if removed == (string(before) == string(after)) {
			t.Errorf("%s: removed %t\n%s\n%s", path, removed, before, after)
		}
		if got := strings.Join(slices.Collect(splitPairs(path)), ","); got != path {
			t.Errorf("the pairs of %q are %q", path, got)
		}
	})
}
