package buildanddeploy

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSucceeds: which workload takes the place of which.
func TestSucceeds(t *testing.T) {
	workload := func(namespace, label, image string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": namespace},
			"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": label}},
				"spec": map[string]any{"containers": []any{map[string]any{"image": image}}}}}}}
	}
	selects := func(was, is string) reselection {
		return reselection{"shop", map[string]string{"app": was}, map[string]string{"app": is}}
	}
	was := workload("shop", "api", "localhost:5000/gcr.io_example_api:hone-123")
	for _, tc := range []struct {
		name     string
		is       *unstructured.Unstructured
		services []reselection
		want     bool
	}{
		{"the same image, from a registry of its own", workload("shop", "web", "gcr.io/example/api"), nil, true},
		{"another image", workload("shop", "web", "gcr.io/example/worker"), nil, false},
		{"another namespace", workload("blog", "api", "gcr.io/example/api"), nil, false},
		{"a Service selects it now", workload("shop", "web", "gcr.io/example/web"), []reselection{selects("api", "web")}, true},
		{"a Service selects both", workload("shop", "api", "gcr.io/example/web"), []reselection{selects("api", "api")}, true},
		{"a Service still selects the old one", workload("shop", "web", "gcr.io/example/web"), []reselection{selects("api", "api")}, false},
		{"a Service selected another", workload("shop", "web", "gcr.io/example/web"), []reselection{selects("blog", "web")}, false},
	} {
		if got := succeeds(tc.is, was, tc.services); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
