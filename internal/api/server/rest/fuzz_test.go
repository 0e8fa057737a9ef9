package rest

import (
	"encoding/json"
	"net/url"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// FuzzPatch applies patches of every kind that a client may send: the result is always JSON.
func FuzzPatch(f *testing.F) {
	doc := `{"metadata":{"name":"a","labels":{"b":"c"}},"spec":{"list":[1,{"d":null}]}}`
	for i, p := range []string{
		`[{"op":"add","path":"/spec/list/-","value":{}},{"op":"test","path":"/metadata/name","value":"a"}]`,
		`[{"op":"copy","from":"/spec","path":"/spec/list/0"},{"op":"move","from":"/spec/list/1","path":""}]`,
		`[{"op":"remove","path":"/spec/list/-1"},{"op":"replace","path":"/~1~0/9","value":null}]`, `[null]`, `[{"op":"add"}]`,
		`{"spec":null,"metadata":{"labels":{"b":null}}}`, `{"$patch":"delete"}`, `{"spec":{"list":{"e":[]}}}`,
	} {
		f.Add(doc, p, byte(i))
	}
	f.Fuzz(func(t *testing.T, doc, patch string, kind byte) {
		var object map[string]any
		if json.Unmarshal([]byte(doc), &object) != nil || object == nil {
			t.Skip() // hone's own objects are objects
		}
		kinds := []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}
		out, err := applyPatch([]byte(doc), []byte(patch), kinds[int(kind)%len(kinds)])
		if err == nil && !json.Valid(out) {
			t.Errorf("%s with %s is %q", doc, patch, out)
		}
	})
}

// FuzzOptions reads the queries of lists and watches.
func FuzzOptions(f *testing.F) {
	f.Add("labelSelector=a%3Db,c!%3Dd,!e&fieldSelector=metadata.name%3Dx&limit=5&continue=abc")
	f.Add("labelSelector=a+in+(b,c)&watch=1&resourceVersion=18446744073709551616&timeoutSeconds=-1")
	f.Add("fieldSelector=metadata.name%3D%5C,&allowWatchBookmarks=maybe")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Skip()
		}
		o, err := parse(values)
		if err != nil {
			return
		}
		if o.Limit < 0 || o.labels == nil || o.fields == nil {
			t.Errorf("%q: %+v", query, o)
		}
		_, _ = parseVersion(o.ResourceVersion)
	})
}
