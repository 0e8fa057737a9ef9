package k8s

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRequests: each request of the context is counted, with its bytes and without its content; a watch is not.
func TestRequests(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.Path, "/gone") {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, "answer")
	}))
	defer srv.Close()
	const apply = "application/apply-patch+yaml"
	rows := []struct {
		method, path, content, body string
		want                        *Request
	}{
		{"GET", "/api/v1/namespaces/dev/secrets?labelSelector=a", "", "", &Request{Verb: "list", Object: "secrets", Namespace: "dev", Status: 200}},
		{"GET", "/apis/apps/v1/namespaces/dev/deployments/gone", "", "", &Request{Verb: "get", Object: "deployments/gone", Namespace: "dev", Status: 404}},
		{"GET", "/apis/apps/v1/namespaces/dev/deployments?watch=true", "", "", nil},
		{"PATCH", "/api/v1/namespaces/dev/secrets/key", apply, "hidden", &Request{Verb: "apply", Object: "secrets/key", Namespace: "dev", Status: 200}},
		{"PATCH", "/api/v1/namespaces/dev/pods/web/status", "", "{}", &Request{Verb: "patch", Object: "pods/web/status", Namespace: "dev", Status: 200}},
		{"PUT", "/proxy/api/v1/nodes/one", "", "{}", &Request{Verb: "update", Object: "nodes/one", Status: 200}},
		{"POST", "/api/v1/namespaces", "", "{}", &Request{Verb: "create", Object: "namespaces", Status: 200}},
		{"DELETE", "/api/v1/namespaces/dev", "", "", &Request{Verb: "delete", Object: "namespaces/dev", Status: 200}},
		{"DELETE", "/api/v1/namespaces/dev/pods", "", "", &Request{Verb: "deletecollection", Object: "pods", Namespace: "dev", Status: 200}},
		{"GET", "/version", "", "", &Request{Verb: "list", Object: "version", Status: 200}},
	}
	var mu sync.Mutex
	var got, want []Request
	counted := &Requests{Tell: func(r Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r)
	}}
	client := &http.Client{Transport: CountingTransport(http.DefaultTransport)}
	defer client.CloseIdleConnections()
	for _, row := range rows {
		ctx := CountRequests(t.Context(), counted)
		req, err := http.NewRequestWithContext(ctx, row.method, srv.URL+row.path, strings.NewReader(row.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", row.content)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if row.want != nil {
			row.want.Sent, row.want.Received = int64(len(row.body)), int64(len("answer"))
			want = append(want, *row.want)
		}
	}
	order := func(a, b Request) int { return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Verb, b.Verb)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := gocmp.Diff(want, got, cmpopts.IgnoreFields(Request{}, "Took")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := "9 requests: apply 1, create 1, delete 1, deletecollection 1, get 1, list 2, patch 1, update 1"; counted.String() != want {
		t.Errorf("got %s, want %s", counted, want)
	}
	if none := (&Requests{}).String(); none != "no requests" {
		t.Error(none)
	}
}
