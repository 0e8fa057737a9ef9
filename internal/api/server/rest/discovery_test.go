package rest

import (
	"encoding/json"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

func TestDiscovery(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]string{
		"/api":                    `{"kind":"APIVersions","versions":[],"serverAddressByClientCIDRs":[]}`,
		"/apis":                   `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"test.dev","versions":[{"groupVersion":"test.dev/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"test.dev/v1alpha1","version":"v1alpha1"}}]}`,
		"/apis/test.dev":          `{"kind":"APIGroup","apiVersion":"v1","name":"test.dev","versions":[{"groupVersion":"test.dev/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"test.dev/v1alpha1","version":"v1alpha1"}}`,
		"/apis/test.dev/v1alpha1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"test.dev/v1alpha1","resources":[{"name":"notes","singularName":"note","namespaced":false,"kind":"Note","verbs":["get","list","watch","create","delete","patch","update"],"shortNames":["nt"],"categories":["test"]},{"name":"notes/status","singularName":"","namespaced":false,"kind":"Note","verbs":["get","patch","update"]},{"name":"facts","singularName":"fact","namespaced":false,"kind":"Fact","verbs":["get","list","watch"],"categories":["test"]}]}`,
		"/version":                `"gitVersion":"v1.2.3"`,
		"/readyz":                 "ok",
	} {
		rec := w.ask("GET", path, "")
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", path, rec.Code, rec.Body, want)
		}
	}
	for _, path := range []string{"/apis/other.dev", "/apis/test.dev/v9", "/openapi/v4", "/openapi/v3/apis/other.dev/v1", "/api/v1"} {
		if rec := w.ask("GET", path, ""); rec.Code != 404 {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
	const accept = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
	all := w.get("/apis", accept)
	if at(all, "kind") != "APIGroupDiscoveryList" || at(all, "items", 0, "versions", 0, "resources", 0, "subresources", 0, "subresource") != "status" ||
		at(all, "items", 0, "versions", 0, "resources", 1, "resource") != "facts" {
		t.Errorf("%v", all)
	}
	if core := w.get("/api", accept); at(core, "kind") != "APIGroupDiscoveryList" {
		t.Errorf("%v", core)
	}
}

func TestOpenAPI(t *testing.T) {
	w := newWorld(t)
	index := w.get("/openapi/v3")
	url, _ := at(index, "paths", "apis/test.dev/v1alpha1", "serverRelativeURL").(string)
	v3 := w.get(url)
	note := at(v3, "components", "schemas", "dev.test.v1alpha1.Note")
	if at(note, "description") != "What somebody has written down." || at(note, "x-kubernetes-group-version-kind", 0, "kind") != "Note" {
		t.Errorf("%v", note)
	}
	if at(v3, "paths", notesPath+"/{name}", "patch", "parameters", 3, "name") != "fieldValidation" || at(v3, "paths", "/apis/test.dev/v1alpha1/facts", "post") != nil {
		t.Errorf("%v", at(v3, "paths"))
	}
	meta := at(v3, "components", "schemas", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "properties", "name", "description")
	if text, _ := meta.(string); !strings.HasPrefix(text, "Name must be unique") {
		t.Errorf("%v", meta)
	}
	v2 := w.get("/openapi/v2")
	if at(v2, "swagger") != "2.0" || at(v2, "definitions", "dev.test.v1alpha1.Note", "properties", "spec") == nil {
		t.Errorf("%v", at(v2, "definitions"))
	}
	binary := w.ask("GET", "/openapi/v2", "", "Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
	var d2 openapiv2.Document
	if err := proto.Unmarshal(binary.Body.Bytes(), &d2); err != nil || len(d2.Paths.Path) != 4 {
		t.Errorf("%v, %d paths", err, len(d2.GetPaths().GetPath()))
	}
	binary = w.ask("GET", url, "", "Accept: application/com.github.proto-openapi.spec.v3.v1.0+protobuf")
	var d3 openapiv3.Document
	if err := proto.Unmarshal(binary.Body.Bytes(), &d3); err != nil || len(d3.Paths.Path) != 4 {
		t.Errorf("%v", err)
	}
	if !json.Valid(w.ask("GET", "/openapi/v2", "", "Accept: application/json").Body.Bytes()) {
		t.Error("no JSON")
	}
}
