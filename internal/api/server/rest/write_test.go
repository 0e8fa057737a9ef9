package rest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	mergePatch      = "Content-Type: application/merge-patch+json"
	jsonPatch       = "Content-Type: application/json-patch+json"
	serverSideApply = "Content-Type: application/apply-patch+yaml"
)

func TestWrite(t *testing.T) {
	const n = notesPath + "/a"
	for _, tc := range []struct {
		name, method, path, body string
		header                   string
		code                     int
		// answer is a part of the body; text is the text of note a afterwards, "gone" if it is deleted.
		answer, text string
	}{
		{"create", "POST", notesPath, `{"metadata":{"name":"b"},"spec":{"text":"new"}}`, "", 201, `"text":"new"`, "one"},
		{"create as YAML", "POST", notesPath, "metadata: {name: b}\nspec: {text: new}\n", "Content-Type: application/yaml", 201, `"name":"b"`, "one"},
		{"create with a made-up name", "POST", notesPath, `{"metadata":{"generateName":"b-"}}`, "", 201, `"name":"b-`, "one"},
		{"create again", "POST", notesPath, `{"metadata":{"name":"a"}}`, "", 409, "AlreadyExists", "one"},
		{"create without a name", "POST", notesPath, `{}`, "", 400, "needs a name", "one"},
		{"create in a namespace", "POST", notesPath, `{"metadata":{"name":"b","namespace":"x"}}`, "", 400, "no namespaces", "one"},
		{"create another kind", "POST", notesPath, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}`, "", 400, "not a", "one"},
		{"create a refused object", "POST", notesPath, `{"metadata":{"name":"b"},"spec":{"text":"bad"}}`, "", 422, "write a good one", "one"},
		{"create with an unknown field", "POST", notesPath + "?fieldValidation=Strict", `{"metadata":{"name":"b"},"spec":{"txt":"x"}}`, "", 400, `unknown field \"spec.txt\"`, "one"},
		{"create with a field twice", "POST", notesPath + "?fieldValidation=Strict", `{"metadata":{"name":"b"},"spec":{"text":"x","text":"y"}}`, "", 400, "duplicate field", "one"},
		{"create without validation", "POST", notesPath, `{"metadata":{"name":"b"},"spec":{"txt":"x"}}`, "", 201, `"name":"b"`, "one"},
		{"create with the wrong type", "POST", notesPath, `{"metadata":{"name":"b"},"spec":{"size":"x"}}`, "", 400, "cannot unmarshal", "one"},
		{"dry", "POST", notesPath + "?dryRun=All", `{"metadata":{"name":"b"},"spec":{"text":"new"}}`, "", 201, `"text":"new"`, "one"},
		{"a refused dry run", "POST", notesPath + "?dryRun=All", `{"metadata":{"name":"b"},"spec":{"text":"bad"}}`, "", 422, "good one", "one"},
		{"an unknown dry run", "POST", notesPath + "?dryRun=Some", `{"metadata":{"name":"b"}}`, "", 400, "dryRun", "one"},

		{"replace", "PUT", n, `{"metadata":{"name":"a"},"spec":{"text":"two"}}`, "", 200, `"text":"two"`, "two"},
		{"replace a missing object", "PUT", notesPath + "/x", `{"metadata":{"name":"x"}}`, "", 404, "NotFound", "one"},
		{"replace under another name", "PUT", n, `{"metadata":{"name":"b"}}`, "", 400, "does not match", "one"},
		{"replace the newest state", "PUT", n, `{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"text":"two"}}`, "", 200, "two", "two"},
		{"replace an older state", "PUT", n, `{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"text":"two"}}`, "", 409, "has been modified", "one"},
		{"replace another object", "PUT", n, `{"metadata":{"name":"a","uid":"7"},"spec":{"text":"two"}}`, "", 409, "UID", "one"},
		{"replace by the same", "PUT", n, `{"metadata":{"name":"a"},"spec":{"text":"one","size":3},"status":{"conditions":[{"type":"Long","status":"False","reason":"Counted","message":"","lastTransitionTime":null}]}}`, "", 200, `"resourceVersion":"1"`, "one"},
		{"replace the status", "PUT", n + "/status", `{"metadata":{"name":"a"},"spec":{"text":"two"},"status":{"clicks":3}}`, "", 200, `"clicks":3`, "one"},
		{"replace by nothing", "PUT", n, `null`, "", 400, "empty", "one"},

		{"merge", "PATCH", n, `{"spec":{"text":"two"}}`, mergePatch, 200, `"size":3`, "two"},
		{"merge and remove", "PATCH", n, `{"spec":{"text":null}}`, mergePatch, 200, `"size":3`, ""},
		{"merge strategically", "PATCH", n, `{"spec":{"text":"two"}}`, "Content-Type: application/strategic-merge-patch+json", 200, `"size":3`, "two"},
		{"merge by a directive", "PATCH", n, `{"spec":{"things":[{"$patch":"delete","name":"x"}]}}`, "Content-Type: application/strategic-merge-patch+json", 400, "$patch: no kind", "one"},
		{"merge an older state", "PATCH", n, `{"metadata":{"resourceVersion":"9"},"spec":{"text":"two"}}`, mergePatch, 409, "modified", "one"},
		{"merge another name", "PATCH", n, `{"metadata":{"name":"b"}}`, mergePatch, 400, "does not match", "one"},
		{"merge a list", "PATCH", n, `[1]`, mergePatch, 400, "not an object", "one"},
		{"merge nothing", "PATCH", n, `{}`, mergePatch, 200, `"resourceVersion":"1"`, "one"},
		{"merge the status", "PATCH", n + "/status", `{"spec":{"text":"two"},"status":{"clicks":2}}`, mergePatch, 200, `"clicks":2`, "one"},
		{"merge without validation", "PATCH", n + "?fieldValidation=Ignore", `{"spec":{"txt":"two"}}`, mergePatch, 200, `"resourceVersion":"1"`, "one"},
		{"operations", "PATCH", n, `[{"op":"test","path":"/spec/text","value":"one"},{"op":"replace","path":"/spec/text","value":"two"}]`, jsonPatch, 200, "two", "two"},
		{"operations on another state", "PATCH", n, `[{"op":"test","path":"/spec/text","value":"x"},{"op":"replace","path":"/spec/text","value":"two"}]`, jsonPatch, 422, "Invalid", "one"},
		{"no operations", "PATCH", n, `{"op":"x"}`, jsonPatch, 400, "read the patch", "one"},
		{"too many operations", "PATCH", n, "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"Note"},`, maxOperations) + `{"op":"test","path":"/kind","value":"Note"}]`, jsonPatch, 413, "at most", "one"},
		{"apply", "PATCH", n + "?fieldManager=me", "apiVersion: test.dev/v1alpha1\nkind: Note\nmetadata: {name: a}\nspec: {text: two}\n", serverSideApply, 200, `"size":3`, "two"},
		{"apply a missing object", "PATCH", notesPath + "/b?fieldManager=me", "apiVersion: test.dev/v1alpha1\nkind: Note\nmetadata: {name: b}\nspec: {text: new}\n", serverSideApply, 201, `"new"`, "one"},
		{"patch a missing object", "PATCH", notesPath + "/b", `{}`, mergePatch, 404, "NotFound", "one"},
		{"a patch of no kind", "PATCH", n, `{}`, "Content-Type: application/json", 415, "unknown format", "one"},
		{"protobuf", "PUT", n, `k8s`, "Content-Type: application/vnd.kubernetes.protobuf", 415, "UnsupportedMediaType", "one"},
		{"a form", "POST", notesPath, `{}`, "Content-Type: text/plain", 415, "unknown format", "one"},
		{"malformed", "POST", notesPath, `{"metadata":`, "", 400, "BadRequest", "one"},
		{"malformed YAML", "POST", notesPath, "a: b: c", "Content-Type: application/yaml", 400, "BadRequest", "one"},
		{"too long", "POST", notesPath, strings.Repeat(" ", maxBody+1), "", 413, "at most", "one"},

		{"delete", "DELETE", n, "", "", 200, `"Success"`, "gone"},
		{"delete with options", "DELETE", n, `{"propagationPolicy":"Background"}`, "", 200, `"Success"`, "gone"},
		{"delete as a dry run", "DELETE", n, `{"dryRun":["All"]}`, "", 200, `"Success"`, "one"},
		{"delete another one", "DELETE", n, `{"preconditions":{"uid":"x"}}`, "", 409, "precondition", "one"},
		{"delete another state", "DELETE", n, `{"preconditions":{"resourceVersion":"9"}}`, "", 409, "precondition", "one"},
		{"delete a missing object", "DELETE", notesPath + "/x", "", "", 404, "NotFound", "one"},
		{"delete all", "DELETE", notesPath, "", "", 405, "MethodNotAllowed", "one"},
		{"delete a status", "DELETE", n + "/status", "", "", 405, "MethodNotAllowed", "one"},

		{"write a read-only kind", "PUT", "/apis/test.dev/v1alpha1/facts/a", `{"metadata":{"name":"a"}}`, "", 405, "MethodNotAllowed", "one"},
		{"its status", "PUT", "/apis/test.dev/v1alpha1/facts/a/status", `{}`, "", 404, "NotFound", "one"},
		{"another kind", "POST", "/apis/test.dev/v1alpha1/things", `{}`, "", 404, "NotFound", "one"},
		{"another version", "POST", "/apis/test.dev/v1/notes", `{}`, "", 404, "NotFound", "one"},
		{"a deeper path", "PUT", n + "/status/x", `{}`, "", 404, "NotFound", "one"},
		{"another subresource", "PUT", n + "/scale", `{}`, "", 404, "NotFound", "one"},
		{"discovery", "POST", "/apis", `{}`, "", 405, "only reading", "one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.then(put("a", "one"))
			headers := []string{}
			if tc.header != "" {
				headers = append(headers, tc.header)
			}
			rec := w.ask(tc.method, tc.path, tc.body, headers...)
			if rec.Code != tc.code || !strings.Contains(rec.Body.String(), tc.answer) {
				t.Errorf("%d %.300s, want %d %s", rec.Code, rec.Body, tc.code, tc.answer)
			}
			if rec.Code >= 400 && !strings.Contains(rec.Body.String(), `"kind":"Status"`) {
				t.Errorf("no Status: %.300s", rec.Body)
			}
			text := w.notes.In(w.View()).Value("a").Text
			if w.notes.In(w.View()).Ref("a") == nil {
				text = "gone"
			}
			if text != tc.text {
				t.Errorf("the note has text %q, want %q", text, tc.text)
			}
			if strings.Contains(tc.path, "dryRun") && w.notes.In(w.View()).Len() != 1 {
				t.Error("a dry run has written")
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	w := newWorld(t)
	rec := w.ask("POST", notesPath, `{"metadata":{"name":"b"},"spec":{"txt":"x"}}`)
	if diff := cmp.Diff([]string{`299 - "unknown field \"spec.txt\""`}, rec.Header().Values("Warning")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCopiesAreBounded sends a patch that doubles a text with each operation.
func TestCopiesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", strings.Repeat("x", 1<<10)))
	var ops []string
	for i := range 40 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"/spec","path":"/spec/s%d"}`, i))
	}
	rec := w.ask("PATCH", notesPath+"/a", "["+strings.Join(ops, ",")+"]", jsonPatch)
	if rec.Code != 422 {
		t.Errorf("%d %.200s", rec.Code, rec.Body)
	}
}

// TestOneWriterWins has many clients write with the same resource version.
func TestOneWriterWins(t *testing.T) {
	w := newWorld(t)
	w.then(put("a", "0"))
	var all sync.WaitGroup
	codes := make([]int, 20)
	for i := range codes {
		all.Go(func() {
			codes[i] = w.ask("PUT", notesPath+"/a", fmt.Sprintf(`{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"text":"w%d"}}`, i)).Code
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, c := range codes {
		count[c]++
	}
	if count[200] != 1 || count[409] != len(codes)-1 {
		t.Errorf("%v", count)
	}
}

// TestSlowOutcomes has a kind whose objects never show the requested change.
func TestSlowOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		k := w.kind()
		k.Write = func(_ store.View, old, new projection.Object) ([]store.Action, error) {
			if new != nil && new.GetName() == "ignored" {
				return nil, nil
			}
			return []store.Action{erased{"nobody"}}, nil // is reduced, and changes nothing
		}
		w.handler = New(NewWriter(w), "1", NewLimit(), []projection.Kind{k})
		w.handler.patience = 50 * time.Millisecond
		w.then(put("a", "one"), put("ignored", "one"))
		for _, tc := range []struct {
			method, path, body string
			code               int
			answer             string
		}{
			{"POST", notesPath, `{"metadata":{"name":"b"}}`, 202, "does not exist yet"},
			{"PUT", notesPath + "/a", `{"metadata":{"name":"a"},"spec":{"text":"two"}}`, 202, `"text":"one"`},
			{"DELETE", notesPath + "/a", "", 202, "Success"},
			{"PUT", notesPath + "/ignored", `{"metadata":{"name":"ignored"},"spec":{"text":"two"}}`, 200, `"text":"one"`},
		} {
			if rec := w.ask(tc.method, tc.path, tc.body); rec.Code != tc.code || !strings.Contains(rec.Body.String(), tc.answer) {
				t.Errorf("%s %s: %d %s", tc.method, tc.path, rec.Code, rec.Body)
			}
		}
	})
}
