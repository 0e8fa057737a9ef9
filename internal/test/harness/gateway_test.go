package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestRedirected checks that no key of the user gets into the kubeconfig of a hone under faults.
func TestRedirected(t *testing.T) {
	raw := []byte(`apiVersion: v1
kind: Config
current-context: dev
contexts: [{name: dev, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://real:6443", certificate-authority-data: cmVhbA==}}]
users: [{name: u, user: {client-key-data: c2VjcmV0, token: secret}}]
`)
	out, err := redirected(raw, "127.0.0.1:1", []byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := yaml.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "v1", "kind": "Config", "current-context": "dev",
		"contexts": []any{map[string]any{"name": "dev", "context": map[string]any{"cluster": "c", "user": "u"}}},
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": "https://127.0.0.1:1", "certificate-authority-data": "bWluZQ=="}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
