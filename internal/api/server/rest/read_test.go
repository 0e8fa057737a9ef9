package rest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

func TestGet(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", "one", "tier=web"), put("b", "two"))
	a := w.get(notesPath + "/a")
	if at(a, "kind") != "Note" || at(a, "apiVersion") != "test.dev/v1alpha1" || at(a, "spec", "text") != "one" ||
		at(a, "metadata", "resourceVersion") != "2" || at(a, "metadata", "labels", "tier") != "web" {
		t.Errorf("%v", a)
	}
	w.then(put("b", "three"))
	again, b := w.get(notesPath+"/a"), w.get(notesPath+"/b")
	if diff := cmp.Diff(a, again); diff != "" {
		t.Errorf("an object changes when another one changes (-before +after):\n%s", diff)
	}
	if at(b, "metadata", "resourceVersion") != "3" || at(b, "metadata", "uid") == at(a, "metadata", "uid") || at(a, "metadata", "uid") == "" {
		t.Errorf("%v", b)
	}
	w.then(put("a", "four"))
	if changed := w.get(notesPath + "/a"); at(changed, "metadata", "uid") != at(a, "metadata", "uid") || at(changed, "metadata", "resourceVersion") != "4" {
		t.Errorf("%v", changed)
	}
	if rec := w.ask("GET", notesPath+"/a", "", "Accept: application/yaml"); !strings.Contains(rec.Body.String(), "text: four\n") || rec.Header().Get("Content-Type") != "application/yaml" {
		t.Errorf("%s", rec.Body)
	}
}

func TestList(t *testing.T) {
	w := newWorld(t)
	w.then(put("c", "3", "tier=db"), put("a", "1", "tier=web", "x=y"), put("b", "2", "tier=web"))
	for _, tc := range []struct {
		query string
		want  string
	}{
		{"", "a b c"},
		{"labelSelector=tier=web", "a b"},
		{"labelSelector=tier!=web", "c"},
		{"labelSelector=tier in (db,web),x", "a"},
		{"fieldSelector=metadata.name=b", "b"},
		{"fieldSelector=metadata.name!=b", "a c"},
		{"fieldSelector=metadata.name=b&labelSelector=tier=db", ""},
		{"resourceVersion=0", "a b c"},
		{"resourceVersion=3&resourceVersionMatch=NotOlderThan", "a b c"},
		{"resourceVersion=2", "a b c"},
	} {
		q, _ := url.ParseQuery(tc.query)
		list := w.get(notesPath + "?" + q.Encode())
		if got := strings.Join(names(list), " "); got != tc.want || at(list, "kind") != "NoteList" || at(list, "metadata", "resourceVersion") != "3" {
			t.Errorf("%s: %s of %v, want %s", tc.query, got, list["metadata"], tc.want)
		}
	}
}

func TestListOfThePast(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", "1"), put("b", "2"))
	w.get(notesPath) // the history begins here
	w.then(put("b", "3"), erased{"a"}, put("c", "4"), erased{"c"})
	w.get(notesPath)
	past := w.get(notesPath + "?resourceVersion=2&resourceVersionMatch=Exact")
	if got := strings.Join(names(past), " "); got != "a b" || at(past, "items", 1, "spec", "text") != "2" || at(past, "metadata", "resourceVersion") != "2" {
		t.Errorf("%v", past)
	}
	for query, want := range map[string]int{"resourceVersion=1&resourceVersionMatch=Exact": 410, "resourceVersion=x": 400, "resourceVersionMatch=Exact": 400,
		"resourceVersion=2&resourceVersionMatch=Odd": 400, "labelSelector=a%3D%3D%3Db": 400, "fieldSelector=spec.text%3D1": 400, "limit=-1": 400,
		"continue=abc": 400, "limit=x": 400} {
		if rec := w.ask("GET", notesPath+"?"+query, ""); rec.Code != want || !strings.Contains(rec.Body.String(), `"kind":"Status"`) {
			t.Errorf("%s: %d %s, want %d", query, rec.Code, rec.Body, want)
		}
	}
}

// TestPages reads a list page by page while it changes: all pages are from one snapshot.
func TestPages(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		w.then(put(fmt.Sprint("n", i), "x"))
	}
	var got []string
	next := ""
	for range 4 {
		list := w.get(notesPath + "?limit=3&continue=" + next)
		got = append(got, names(list)...)
		if at(list, "metadata", "resourceVersion") != "7" {
			t.Errorf("%v", list["metadata"])
		}
		if len(got) == 3 && at(list, "metadata", "remainingItemCount") != 4.0 {
			t.Errorf("%v", list["metadata"])
		}
		w.then(erased{"n5"}, put("n0", "y"), put("n9", "z"), put("n5", "late"))
		if next, _ = at(list, "metadata", "continue").(string); next == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"n0", "n1", "n2", "n3", "n4", "n5", "n6"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	const accept = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	w := newWorld(t)
	w.then(put("a", "one"), put("b", "two"))
	list := w.get(notesPath+"?limit=1", accept)
	if at(list, "kind") != "Table" || at(list, "apiVersion") != "meta.k8s.io/v1" || at(list, "metadata", "resourceVersion") != "2" || at(list, "metadata", "continue") == nil {
		t.Errorf("%v", list)
	}
	var columns []string
	for _, c := range list["columnDefinitions"].([]any) {
		columns = append(columns, fmt.Sprint(at(c, "name"), " ", at(c, "type"), " ", at(c, "priority")))
	}
	if diff := cmp.Diff([]string{"Name string 0", "Text string 0", "Size integer 0", "Age string 1"}, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	cells, _ := at(list, "rows", 0, "cells").([]any)
	if len(cells) != 4 || cells[0] != "a" || cells[1] != "one" || cells[2] != 3.0 || !strings.HasSuffix(cells[3].(string), "s") {
		t.Errorf("%v", cells)
	}
	if o := at(list, "rows", 0, "object"); at(o, "kind") != "PartialObjectMetadata" || at(o, "metadata", "name") != "a" {
		t.Errorf("%v", o)
	}
	if one := w.get(notesPath+"/b?includeObject=Object", accept); at(one, "rows", 0, "object", "spec", "text") != "two" {
		t.Errorf("%v", one)
	}
	if one := w.get(notesPath+"/b?includeObject=None", accept); at(one, "rows", 0, "object") != nil {
		t.Errorf("%v", one)
	}
	if rec := w.ask("GET", notesPath+"?includeObject=Some", "", accept); rec.Code != 400 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestNegotiation(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", "one"))
	for accept, want := range map[string]string{
		"":                                    "Note",
		"*/*":                                 "Note",
		"text/html, */*;q=0.1":                "Note",
		"application/vnd.kubernetes.protobuf": "406",
		"application/vnd.kubernetes.protobuf,application/json":                              "Note",
		"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io, application/json": "Note",
		"application/json;as=Table;v=v1;g=meta.k8s.io":                                      "Table",
		"application/json;as=Table;v=v9;g=meta.k8s.io":                                      "406",
		"application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5,application/json":               "Note",
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io":                      "PartialObjectMetadata",
		"text/html":                          "406",
		"application/json;q=0":               "406",
		"application/cbor, application/json": "Note",
	} {
		rec := w.ask("GET", notesPath+"/a", "", "Accept: "+accept)
		if !strings.Contains(rec.Body.String(), `"kind":"`+want+`"`) && fmt.Sprint(rec.Code) != want {
			t.Errorf("%s: %d %s, want %s", accept, rec.Code, rec.Body, want)
		}
	}
}

// TestSecretsAreHidden checks every kind of response, and that an object keeps its secrets when a client sends it back
// unchanged.
func TestSecretsAreHidden(t *testing.T) {
	w := newWorld(t)
	w.secrets = []model.Secret{{Name: "db", Key: "password", Value: `pa"ss\word`}, {Name: "db", Key: "user", Value: "admin"}}
	w.then(put("admin", `login admin with pa"ss\word`))
	for _, tc := range []struct{ path, accept string }{
		{notesPath, "application/json"}, {notesPath + "/admin", "application/json"}, {notesPath + "/admin", "application/yaml"},
		{notesPath + "?includeObject=Object", "application/json;as=Table;v=v1;g=meta.k8s.io"},
		{notesPath + "?watch=true&timeoutSeconds=1", "application/json"},
		{notesPath + "?watch=true&timeoutSeconds=1&includeObject=Object", "application/json;as=Table;v=v1;g=meta.k8s.io"},
	} {
		body := w.ask("GET", tc.path, "", "Accept: "+tc.accept).Body.String()
		if strings.Contains(body, `ss\`+`\word`) || strings.Contains(body, "login admin") || !strings.Contains(body, "[redacted secret db:password]") {
			t.Errorf("%s as %s: %s", tc.path, tc.accept, body)
		}
	}
	doc := w.ask("GET", notesPath+"/admin", "").Body.String()
	if !strings.Contains(doc, `"name":"admin"`) {
		t.Errorf("the name is hidden: %s", doc)
	}
	if rec := w.ask("PUT", notesPath+"/admin", strings.Replace(doc, `"size":27`, `"size":28`, 1)); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if n := w.notes.In(w.View()).Value("admin"); n.Text != `login admin with pa"ss\word` || n.Size != 28 {
		t.Errorf("%+v", n)
	}
}

// TestSlashes reads and writes objects whose names contain slashes, escaped or not.
func TestSlashes(t *testing.T) {
	w := newWorld(t)
	w.then(put("team/web", "one"), put("team/status", "two"), put("team", "three"), put("image_a_b", "four"))
	for _, tc := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{"GET", "/team/web", "", 200, `"text":"one"`},
		{"GET", "/team%2Fweb", "", 200, `"text":"one"`},
		{"GET", "/team%2Fstatus", "", 200, `"text":"two"`},
		{"GET", "/team/status", "", 200, `"text":"two"`},
		{"GET", "/team%2Fweb/status", "", 200, `"text":"one"`},
		{"GET", "/team/nope", "", 404, `notes.test.dev \"team/nope\" not found`},
		{"GET", "/image/a/b", "", 200, `"text":"four"`},
		{"PATCH", "/team/web", `{"spec":{"text":"five"}}`, 200, `"text":"five"`},
		{"PATCH", "/team%2Fweb/status", `{"status":{"clicks":3}}`, 200, `"clicks":3`},
		{"DELETE", "/team%2Fweb", "", 200, `"Success"`},
		{"GET", "/team/web", "", 404, "not found"},
	} {
		var header []string
		if tc.method == "PATCH" {
			header = []string{"Content-Type: application/merge-patch+json"}
		}
		rec := w.ask(tc.method, notesPath+tc.path, tc.body, header...)
		if rec.Code != tc.code || !strings.Contains(rec.Body.String(), tc.want) {
			t.Errorf("%s %s: %d %s, want %d %s", tc.method, tc.path, rec.Code, rec.Body, tc.code, tc.want)
		}
	}
}
