package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

var secrets = []model.Secret{{Name: "db", Key: "password", Value: `p"w\d-1`}, {Name: "db", Key: "port", Value: "54321"},
	{Name: "db", Key: "user", Value: "postgres", Named: true}, {Name: "key", Key: "json", Value: "{\n  \"private\": \"abcdefgh\"\n}"}}

func TestJSON(t *testing.T) {
	r := New(secrets)
	for _, tc := range []struct{ name, doc, want string }{
		{"nothing", `{"b":1,"a":["x"]}`, `{"b":1,"a":["x"]}`},
		{"a text", `{"a":"is 54321 here"}`, `{"a":"is [redacted secret db:port] here"}`},
		{"a number", `{"a":54321,"b":"54321"}`, `{"a":54321,"b":"[redacted secret db:port]"}`},
		{"with JSON's escapes", `{"a":"x p\"w\\d-1"}`, `{"a":"x [redacted secret db:password]"}`},
		{"with other escapes", `{"a":"\u0035\u0034321"}`, `{"a":"[redacted secret db:port]"}`},
		{"a line of several, escaped", `{"a":"  \"private\": \"abcdefgh\""}`, `{"a":"  [redacted secret key:json]"}`},
		{"base64", `{"a":"cG9zdGdyZXM="}`, `{"a":"[redacted secret db:user]"}`},
		{"a name of the project", `{"a":"postgres","b":"postgres:1","c":"user=postgres"}`, `{"a":"postgres","b":"postgres:1","c":"user=[redacted secret db:user]"}`},
		{"the name of an object", `{"metadata":{"name":"54321","labels":{"l":"54321"}}}`, `{"metadata":{"labels":{"l":"[redacted secret db:port]"},"name":"54321"}}`},
		{"names of fields", `{"54321":"54321"}`, `{"54321":"[redacted secret db:port]"}`},
		{"half a document", `{"a":"54321`, `null`},
	} {
		if got := string(r.JSON([]byte(tc.doc))); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	for doc, want := range map[string]string{
		`{"a":"54321"}`:                   `{"a":"54321"}`,
		`{"a":"see pg://me:pw@db"}`:       `{"a":"see pg://me:[redacted]@db"}`,
		`{"a":"https://t\u0026k@host/x"}`: `{"a":"https://[redacted]@host/x"}`,
		`{"endpoints":[{"name":"a","url":"http://me:pw@host"}],"b":"http://me:pw@host"}`: `{"b":"http://[redacted]@host","endpoints":[{"name":"a","url":"http://me:pw@host"}]}`,
	} {
		if got := string(New(nil).JSON([]byte(doc))); got != want {
			t.Errorf("without secrets: %s, want %s", got, want)
		}
	}
	var zero *Redactor
	if zero.Text("54321") != "54321" {
		t.Error("nil hides something")
	}
}

func TestRestore(t *testing.T) {
	r := New(secrets)
	was := func() any { return tree(t, `{"a":"54321","l":["x","p\"w\\d-1"],"o":{"k":"v 54321"}}`) }
	sent := r.Tree(was())
	sent.(map[string]any)["new"] = "[redacted secret db:port]"
	sent.(map[string]any)["o"].(map[string]any)["k2"] = "y"
	want := tree(t, `{"a":"54321","l":["x","p\"w\\d-1"],"o":{"k":"v 54321","k2":"y"},"new":"[redacted secret db:port]"}`)
	got, restored := r.Restore(sent, was())
	if diff := cmp.Diff(want, got); diff != "" || !restored {
		t.Errorf("restored %v (-want +got):\n%s", restored, diff)
	}
	if _, restored := r.Restore(was(), was()); restored {
		t.Error("a document that was not redacted is restored")
	}
}

func tree(t *testing.T, doc string) (out any) {
	if err := json.Unmarshal([]byte(doc), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzJSON checks that whatever text a document holds, no secret is left in it, and that it stays a document.
func FuzzJSON(f *testing.F) {
	r := New(secrets)
	f.Add(`x p"w\d-1`, "54321")
	f.Add("\u0000\"\\", "postgres")
	f.Fuzz(func(t *testing.T, a, b string) {
		doc, err := json.Marshal(map[string]any{"a": a, "l": []string{b, a + b}})
		if err != nil {
			t.Skip()
		}
		var back map[string]any
		if err := json.Unmarshal(r.JSON(doc), &back); err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		text, _ := back["a"].(string)
		for _, s := range secrets[:2] {
			if strings.Contains(text, s.Value) {
				t.Errorf("%q holds %q", text, s.Value)
			}
		}
	})
}
