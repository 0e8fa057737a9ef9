package buildanddeploy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// TestKeptFiles deploys the image that a container with other files runs already. The pod is replaced where that is up to hone; otherwise
// the deploy fails and says why.
func TestKeptFiles(t *testing.T) {
	object := func(kind, hash string, spec map[string]any) *unstructured.Unstructured {
		version := map[string]string{"Rollout": "example.com/v1"}[kind]
		if version == "" {
			version = "apps/v1"
		}
		spec["template"] = map[string]any{"metadata": map[string]any{"labels": map[string]any{deploy.LabelTemplateHash: hash}},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}}}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": "web", "namespace": "dev"}, "spec": spec}}
	}
	for name, tt := range map[string]struct {
		command  bool
		image    string // the new one
		gone     bool   // the pod has ended meanwhile
		own      bool   // the command has made the pod itself
		foreign  bool   // nothing that the command printed controls it
		template string
		object   *unstructured.Unstructured
		removed  int
		err      string
	}{
		"a command's workload":    {command: true, image: "web:1", removed: 1},
		"a command's, new image":  {command: true, image: "web:2"},
		"a command's, replaced":   {command: true, image: "web:1", gone: true},
		"a command's bare pod":    {command: true, image: "web:1", own: true, removed: 1, err: "none of the objects that the command printed controls it"},
		"not the command's":       {command: true, image: "web:1", foreign: true, removed: 1, err: "none of the objects that the command printed controls it"},
		"a Deployment":            {image: "web:1", template: "h", object: object("Deployment", "h", map[string]any{})},
		"a paused Deployment":     {image: "web:1", template: "h", object: object("Deployment", "h", map[string]any{"paused": true}), err: "its rollout is paused"},
		"another template":        {image: "web:1", template: "before", object: object("Deployment", "h", map[string]any{})},
		"a custom resource":       {image: "web:1", template: "h", object: object("Rollout", "h", map[string]any{}), err: "hone cannot restart the rollout of a Rollout"},
		"an operator's other pod": {image: "web:1", object: object("Rollout", "h", map[string]any{}), err: "no workload that hone has applied controls it"},
		"an operator's, replaced": {image: "web:1", gone: true, object: object("Rollout", "h", map[string]any{})},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCluster(t)
			pod := web1()
			if tt.gone {
				pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			put(t, c, pod)
			var removed []k8s.RemovePodRequest
			c.removePod = func(_ context.Context, req k8s.RemovePodRequest) error {
				removed = append(removed, req)
				if tt.foreign || len(req.Owners) == 0 {
					return k8s.ErrForeignPod
				}
				return nil
			}
			req := (&diary{}).request(selecting)
			req.Results = map[string]model.ImageResult{"web": {Cluster: "web:1"}}
			req.Overlaid = []model.ContainerRef{{Namespace: "dev", Pod: "web-1", Name: "main", ID: "c1", Ref: "web", Template: tt.template}}
			images := map[string]model.ImageResult{"web": {Cluster: tt.image}}
			applied := []model.AppliedObject{{UID: "deployment"}}
			if tt.own {
				applied[0].UID = "pod"
			}
			var err error
			if tt.command {
				err = c.replaceKept(t.Context(), req, images, applied)
			} else {
				err = c.kept(t.Context(), req, images, []*unstructured.Unstructured{tt.object})
			}
			if len(removed) != tt.removed || tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(problem.Text(err), tt.err)) {
				t.Errorf("%v, removed: %+v", err, removed)
			}
			if tt.removed == 1 && !tt.own {
				want := k8s.RemovePodRequest{Namespace: "dev", Name: "web-1", UID: "pod", Owners: []string{"deployment"}}
				if diff := cmp.Diff(want, removed[0]); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		})
	}
}
