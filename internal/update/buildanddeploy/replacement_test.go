package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/pkg/model"
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

// TestReplacementOfAnotherLoad drops a resource whose workload passes to another one. Before the declarations are final, a further load
// of the Tiltfile drops that one, too, for a workload of the same image: the removal waits for it, although none had to be awaited first.
func TestReplacementOfAnotherLoad(t *testing.T) {
	w := newWorld(t, 1)
	declares := func(resource, workload string) model.Manifest {
		raw := fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": %q}, "spec": {"selector": {"matchLabels": {"app": "shop"}},
			"template": {"metadata": {"labels": {"app": "shop"}}, "spec": {"containers": [{"name": "main", "image": "shop"}]}}}}`, workload)
		return model.Manifest{Name: model.ManifestName(resource), AutoInit: true,
			K8s: &model.K8sTarget{Objects: []model.K8sObject{{APIVersion: "apps/v1", Kind: "Deployment", Name: workload, JSON: raw}}}}
	}
	was := declares("a", "shop-1")
	deployed := (&diary{}).request(was)
	deployed.Namespace, deployed.Declared = deploytest.Namespace, func() []model.Manifest { return []model.Manifest{was} }
	if _, err := w.cluster.Deploy(t.Context(), deployed, nil); err != nil {
		t.Fatal(err)
	}
	memory, _, err := w.cluster.recorded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := w.cluster.Objects(t.Context(), was, deploytest.Namespace)[0].ObjectID
	if err := memory.SeenReady("a", []model.ObjectID{id}); err != nil {
		t.Fatal(err)
	}
	now := declares("b", "shop-1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said []string
	_, err = w.cluster.Remove(ctx, RemoveRequest{Resource: "a", Why: "which is gone", Undeclared: true, Namespace: deploytest.Namespace,
		Declared: func() []model.Manifest { return []model.Manifest{now} },
		Settled: func(context.Context) error {
			now = declares("c", "shop-2")
			return nil
		},
		Log: logstore.Func(func(_ logstore.Level, text string) {
			said = append(said, strings.TrimSpace(text))
			cancel()
		})})
	if w.server.Objects("deployments")["shop-1"] == nil {
		t.Errorf("the workload is gone before its replacement is there")
	}
	want := []string{"The objects of a, which is gone, are deleted when their replacements are ready: c is not deployed yet"}
	if diff := cmp.Diff(want, said); diff != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v\n%s", err, diff)
	}
}
