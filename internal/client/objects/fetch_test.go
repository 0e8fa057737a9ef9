package objects

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/internal/base/problem"
)

// served returns a session that has the commands a and b. It records the requests in asked.
func served(t *testing.T, asked *[]string) *Client {
	object := func(name string, head bool) string {
		if head {
			return fmt.Sprintf(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":%q,"resourceVersion":"7"}}`, name)
		}
		return fmt.Sprintf(`{"kind":"Cmd","apiVersion":"tilt.dev/v1alpha1","metadata":{"name":%q,"resourceVersion":"7"},"spec":{"n":1.0}}`, name)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		path := strings.Trim(r.URL.Path, "/")
		accept := r.Header.Get("Accept")
		name, one := strings.CutPrefix(path, "apis/tilt.dev/v1alpha1/cmds/")
		if one || strings.HasSuffix(path, "/cmds") {
			*asked = append(*asked, strings.TrimPrefix(name, "apis/tilt.dev/v1alpha1/cmds")+"?"+r.URL.RawQuery)
		}
		as, _, _ := strings.Cut(strings.TrimPrefix(accept, "application/json;as="), ";")
		row := func(name string) string { return fmt.Sprintf(`{"cells":[%q],"object":%s}`, name, object(name, true)) }
		switch {
		case r.URL.Query().Get("labelSelector") == "=":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400,"message":"no selector"}`)
		case path == "api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":[]}`)
		case path == "apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","groups":[{"name":"tilt.dev","versions":[{"groupVersion":"tilt.dev/v1alpha1","version":"v1alpha1"}]}]}`)
		case path == "apis/tilt.dev/v1alpha1":
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"tilt.dev/v1alpha1","resources":[{"name":"cmds","kind":"Cmd"}]}`)
		case one && name != "a" && name != "b":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		case as == "Table" && one:
			fmt.Fprintf(w, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":[],"rows":[%s]}`, row(name))
		case as == "Table":
			fmt.Fprintf(w, `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"columnDefinitions":[],"rows":[%s,%s]}`, row("a"), row("b"))
		case one:
			fmt.Fprintln(w, object(name, as == "PartialObjectMetadata"))
		default:
			head := as == "PartialObjectMetadataList"
			fmt.Fprintf(w, `{"kind":"CmdList","metadata":{"resourceVersion":"9"},"items":[%s, %s]}`, object("a", head), object("b", head))
		}
	}))
	t.Cleanup(s.Close)
	session, err := Open(t.Context(), &rest.Config{Host: s.URL}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	*asked = nil
	return session
}

// TestFetch fetches in every form: all objects that selectors match, one by name, and several of which one is missing.
func TestFetch(t *testing.T) {
	const (
		whole = `{"apiVersion":"tilt.dev/v1alpha1","kind":"Cmd","metadata":{"name":"%s","resourceVersion":"7"},"spec":{"n":1}}`
		text  = `{"kind":"Cmd","apiVersion":"tilt.dev/v1alpha1","metadata":{"name":"%s","resourceVersion":"7"},"spec":{"n":1.0}}`
		head  = `{"apiVersion":"tilt.dev/v1alpha1","kind":"Cmd","metadata":{"name":"%s","resourceVersion":"7"}}`
	)
	for form, object := range map[Form]string{Whole: whole, Text: text, Heads: head, Rows: "row %s", WholeRows: "row %s"} {
		include := map[Form]string{WholeRows: "includeObject=Object"}[form]
		for _, tc := range []struct {
			target        Target
			want, asked   []string
			version, says string
		}{
			{want: []string{"a", "b"}, asked: []string{"?" + include}, version: "9"},
			{target: Target{Labels: "x=y"}, want: []string{"a", "b"}, asked: []string{"?" + strings.TrimPrefix(include+"&labelSelector=x%3Dy", "&")}, version: "9"},
			{target: Target{Fields: "x=y"}, want: []string{"a", "b"}, asked: []string{"?" + strings.TrimSuffix("fieldSelector=x%3Dy&"+include, "&")}, version: "9"},
			{target: Target{Labels: "="}, asked: []string{"?" + strings.TrimPrefix(include+"&labelSelector=%3D", "&")}, says: "no selector"},
			{target: Target{Names: []string{"b"}}, want: []string{"b"}, asked: []string{"b?" + include}, version: "7"},
			{target: Target{Names: []string{"b", "a"}}, want: []string{"b", "a"}, asked: []string{"b?" + include, "a?" + include}, version: "7"},
			{target: Target{Names: []string{"nope", "a"}}, want: []string{"a"}, asked: []string{"nope?" + include, "?", "a?" + include}, version: "7",
				says: "there is no cmd.tilt.dev/nope\n  there are: a, b"},
		} {
			var asked []string
			s := served(t, &asked)
			tc.target.Kind = s.Kinds()[0]
			found, err := s.Fetch(t.Context(), tc.target, form)
			said := ""
			if err != nil {
				said = problem.Text(err)
			}
			if said != tc.says {
				t.Errorf("form %d of %v: %q, want %q", form, tc.target, said, tc.says)
			}
			var want []string
			for _, name := range tc.want {
				want = append(want, strings.Replace(object, "%s", name, 1))
			}
			if diff := cmp.Diff(want, contents(t, found)); diff != "" {
				t.Errorf("form %d of %v:\n%s", form, tc.target, diff)
			}
			if found.Version != tc.version && form != Text {
				t.Errorf("form %d of %v: version %q, want %q", form, tc.target, found.Version, tc.version)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("form %d of %v: requests (-want +got):\n%s", form, tc.target, diff)
			}
		}
	}
}

// contents returns the found objects, each as text.
func contents(t *testing.T, f Found) (out []string) {
	for _, d := range f.Documents {
		out = append(out, strings.TrimSpace(string(d)))
	}
	for _, u := range f.Objects {
		doc, err := json.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(doc))
	}
	if f.Table != nil {
		for _, r := range f.Table.Rows {
			out = append(out, fmt.Sprint("row ", r.Cells[0]))
		}
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		doc, want, version string
		fails              bool
	}{
		{doc: `{"kind":"L","metadata":{"resourceVersion":"3"},"items":[{"a":[1]}, {"b":"]"} ]}`, want: `{"a":[1]}|{"b":"]"}`, version: "3"},
		{doc: `{"items":[],"metadata":{}}`},
		{doc: `{"items":null}`},
		{doc: `{"items":[{"a":1,"a":2},"` + "\xff" + `"]}`, want: `{"a":1,"a":2}|"` + "\xff" + `"`},
		{doc: `{"items":[{"a":1}`, fails: true},
		{doc: `{"items":{}}`, fails: true},
		{doc: ``, fails: true},
	} {
		items, version, err := split([]byte(tc.doc))
		var got []string
		for _, i := range items {
			got = append(got, string(i))
		}
		if strings.Join(got, "|") != tc.want || version != tc.version || (err != nil) != tc.fails {
			t.Errorf("%s: %q %q %v", tc.doc, got, version, err)
		}
	}
}

// TestSlash requests an object whose name contains a slash, which client-go's own clients refuse.
func TestSlash(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":[]}`)
		case "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","groups":[{"name":"tilt.dev","versions":[{"groupVersion":"tilt.dev/v1alpha1","version":"v1alpha1"}]}]}`)
		case "/apis/tilt.dev/v1alpha1":
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"tilt.dev/v1alpha1","resources":[{"name":"uiresources","kind":"UIResource"}]}`)
		default:
			fmt.Fprint(w, `{"kind":"UIResource","apiVersion":"tilt.dev/v1alpha1","metadata":{"name":"team/web"}}`)
		}
	}))
	defer s.Close()
	session, err := Open(t.Context(), &rest.Config{Host: s.URL}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	asked = nil
	targets, err := session.Targets(Request{Args: []string{"uiresource/team/web"}, Verb: "get"})
	if err != nil || len(targets) != 1 {
		t.Fatalf("%v, %v", targets, err)
	}
	k, name := targets[0].Kind, targets[0].Names[0]
	u, err := session.Get(t.Context(), k, name)
	if err != nil || u.GetName() != "team/web" {
		t.Errorf("%v, %v", u, err)
	}
	if _, err := session.Patch(t.Context(), k, name, types.MergePatchType, []byte("{}"), metav1.PatchOptions{DryRun: []string{"All"}, FieldManager: "m"}, true); err != nil {
		t.Error(err)
	}
	if err := session.Delete(t.Context(), k, name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	const path = "/apis/tilt.dev/v1alpha1/uiresources/team/web"
	want := []string{"GET " + path, "PATCH " + path + "/status?dryRun=All&fieldManager=m", "DELETE " + path}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
