package buildanddeploy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// selecting is a resource that a command deploys, and whose containers called main get changed files.
var selecting = model.Manifest{Name: "web", K8s: &model.K8sTarget{CustomDeploy: &model.CustomDeploy{ContainerSelector: "main",
	LiveUpdate: model.LiveUpdate{Syncs: []model.Sync{{LocalPath: "/src", RemotePath: "/app"}}}}}}

// attached is the same for objects of others.
var attached = func() model.Manifest {
	d := *selecting.K8s.CustomDeploy
	d.Delete = model.Cmd{Argv: []string{"true"}}
	return model.Manifest{Name: "web", K8s: &model.K8sTarget{CustomDeploy: &d}}
}()

// TestLeft compares the objects of a command with the ones before: only a workload that it has changed may have the changed files.
func TestLeft(t *testing.T) {
	object := func(group, kind, uid string, generation int64) model.AppliedObject {
		return model.AppliedObject{ObjectID: model.ObjectID{Group: group, Kind: kind}, UID: uid, Generation: generation}
	}
	deployment := func(uid string, generation int64) model.AppliedObject {
		return object("apps", "Deployment", uid, generation)
	}
	custom := func(generation int64) model.AppliedObject { return object("example.com", "Release", "r", generation) }
	settings, ingress := object("", "ConfigMap", "c", 0), object("networking.k8s.io", "Ingress", "i", 1)
	list := func(objects ...model.AppliedObject) []model.AppliedObject { return objects }
	for name, tt := range map[string]struct {
		was, is []model.AppliedObject
		want    bool
	}{
		"the first deploy":              {is: list(deployment("a", 1))},
		"as before":                     {was: list(deployment("a", 1)), is: list(deployment("a", 1)), want: true},
		"changed":                       {was: list(deployment("a", 1)), is: list(deployment("a", 2))},
		"deleted and created":           {was: list(deployment("a", 1)), is: list(deployment("b", 1))},
		"one of two has changed":        {was: list(deployment("a", 1), deployment("b", 1)), is: list(deployment("a", 2), deployment("b", 1)), want: true},
		"both have changed":             {was: list(deployment("a", 1), deployment("b", 1)), is: list(deployment("a", 2), deployment("b", 2))},
		"changed, beside others":        {was: list(deployment("a", 1), ingress, settings), is: list(deployment("a", 2), ingress, settings)},
		"a pod as before":               {was: list(object("", "Pod", "p", 1)), is: list(object("", "Pod", "p", 1)), want: true},
		"a custom resource as before":   {was: list(custom(1)), is: list(custom(1)), want: true},
		"a custom resource has changed": {was: list(custom(1)), is: list(custom(2))},
		"nothing that counts":           {was: list(settings), is: list(settings), want: true},
		"nothing that counts, at first": {is: list(settings), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Request{Applied: tt.was}).left(tt.is); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestReplaceLeft lets a command leave a pod that has not taken changed files. The pod is replaced if it has files of earlier updates, else the deploy
// fails: in another pod, the same would happen.
func TestReplaceLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		fellBack string
		was      int64 // the generation before
		fresh    bool  // it has got no files before
		brought  bool  // the command may have brought the files
		mode     model.UpdateMode
		own      bool // the command has made the pod itself
		attached bool // the objects belong to others
		gone     bool
		removed  []string // the owners
		err      string
	}{
		"a pod with files":         {fellBack: "no tar", was: 1, removed: []string{"deployment"}},
		"a pod without files":      {fellBack: "no tar", was: 1, fresh: true, err: "pod web-1 lacks changed files, and the apply command has left its workload: no tar"},
		"nothing creates it again": {fellBack: "no tar", was: 1, own: true, err: "pod web-1 lacks changed files"},
		"an object of others":      {fellBack: "no tar", was: 1, attached: true, err: "pod web-1 lacks changed files"},
		"the command's files":      {fellBack: "no tar", was: 1, fresh: true, brought: true},
		"nothing is copied":        {fellBack: "no tar", was: 1, fresh: true, mode: model.UpdateImage},
		"it is gone already":       {fellBack: "no tar", was: 1, fresh: true, gone: true},
		"the workload has changed": {fellBack: "no tar", was: 2, fresh: true},
		"nothing has failed":       {was: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCluster(t)
			if !tt.gone {
				put(t, c, web1())
			}
			var removed []string
			c.removePod = func(_ context.Context, req k8s.RemovePodRequest) error {
				removed = req.Owners
				if len(req.Owners) == 0 {
					return k8s.ErrForeignPod
				}
				return nil
			}
			deployment := model.AppliedObject{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment"}, UID: "deployment", Generation: 1}
			if tt.own {
				deployment.UID = "pod"
			}
			req := (&diary{}).request(selecting)
			if tt.attached {
				req.Manifest = attached
			}
			req.FellBack, req.Applied = tt.fellBack, []model.AppliedObject{deployment}
			req.Applied[0].Generation = tt.was
			req.Lacking = []model.LackingContainer{{ContainerRef: model.ContainerRef{Namespace: "dev", Pod: "web-1", Name: "main", ID: "c1"}, Files: []string{"/src/x"}, New: tt.fresh}}
			if tt.brought {
				req.Lacking[0].Files = nil
			}
			if tt.mode != "" {
				req.Mode = tt.mode
			}
			err := c.replaceLeft(t.Context(), req, []model.AppliedObject{deployment})
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(problem.Text(err), tt.err)) {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.removed, removed); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestFellBackIsKnown lets updates in place fail: the builder of the whole resource learns why.
func TestFellBackIsKnown(t *testing.T) {
	for _, before := range []string{"", "broken later"} {
		d, got := &diary{}, []string{}
		chain := NewComposite(way{name: "synclet", d: d, err: &liveupdate.FallBackError{Reason: "no tar"}}, asked(func(req Request) { got = append(got, req.FellBack) }))
		req := d.request(selecting)
		req.InPlace, req.FellBack = before == "", before
		if before != "" {
			chain = NewComposite(asked(func(req Request) { got = append(got, req.FellBack) }))
		}
		if _, err := chain.BuildAndDeploy(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"": "no tar", "broken later": "broken later"}[before]; !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// web1 is the pod of a container c1.
func web1() *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "web-1", UID: "pod"},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://c1",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}}
}

// put creates a pod in the cluster of a test.
func put(t *testing.T, c *Cluster, pod *corev1.Pod) {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.dyn.Resource(podResource).Namespace(pod.Namespace).Create(t.Context(), &unstructured.Unstructured{Object: fields}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
