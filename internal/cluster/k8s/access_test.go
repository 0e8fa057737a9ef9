package k8s

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hone-dev/hone/pkg/model"
)

// TestAllowed asks a server that allows pods to be read in one namespace, and nothing else.
func TestAllowed(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		a := review["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
		ok := a["namespace"] == "mine" && a["verb"] == "get" && a["resource"] == "pods" && a["subresource"] == ""
		review["status"] = map[string]any{"allowed": ok}
		if !ok {
			review["status"] = map[string]any{"allowed": false, "reason": "no role lets you"}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(srv.Close)
	c, err := newClient(&rest.Config{Host: srv.URL}, model.Cluster{Namespace: "mine"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, tc := range []struct {
		a    Access
		want bool
	}{
		{Access{Verb: "get", Resource: "pods"}, true},
		{Access{Verb: "create", Resource: "pods", Subresource: "exec"}, false},
		{Access{Verb: "get", Resource: "pods", Namespace: "others"}, false},
	} {
		ok, why, err := c.Allowed(t.Context(), tc.a)
		if err != nil || ok != tc.want || !ok && why != "no role lets you" {
			t.Errorf("%+v: %v (%s), %v", tc.a, ok, why, err)
		}
	}
	srv.Close()
	if _, _, err := c.Allowed(t.Context(), Access{Verb: "get", Resource: "pods"}); err == nil {
		t.Error("a server that does not answer allows something")
	}
}
