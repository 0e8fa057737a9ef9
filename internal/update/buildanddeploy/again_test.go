package buildanddeploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestOverlaid falls back to a new image after updates in place that have changed files, or not: the deploy learns of the containers.
func TestOverlaid(t *testing.T) {
	c := func(id string) model.LackingContainer {
		return model.LackingContainer{ContainerRef: model.ContainerRef{ID: id}}
	}
	for name, tt := range map[string]struct {
		before             []model.ContainerRef
		synclet, container Result
		want               []string
	}{
		"nothing was changed":      {},
		"a container was changed":  {synclet: Result{Touched: []string{"c2"}}, want: []string{"c2"}},
		"by two ways":              {synclet: Result{Touched: []string{"c2"}}, container: Result{Touched: []string{"c1", "c2"}}, want: []string{"c1", "c2"}},
		"earlier":                  {before: []model.ContainerRef{{ID: "c1"}}, want: []string{"c1"}},
		"earlier, and again":       {before: []model.ContainerRef{{ID: "c1"}}, synclet: Result{Touched: []string{"c1"}}, want: []string{"c1"}},
		"earlier, and another one": {before: []model.ContainerRef{{ID: "c3"}}, synclet: Result{Touched: []string{"c1"}}, want: []string{"c1", "c3"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			req := d.request(model.Manifest{})
			req.Containers, req.Overlaid = []model.LackingContainer{c("c1"), c("c2")}, tt.before
			var got []string
			deploys := asked(func(req Request) {
				for _, o := range req.Overlaid {
					got = append(got, o.ID)
				}
			})
			chain := NewComposite(way{"synclet", d, tt.synclet, errInfra}, way{"container", d, tt.container, errInfra}, deploys)
			if _, err := chain.BuildAndDeploy(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestForcedJobs deploys an unchanged Job by force: a new one runs, unless its declaration or a policy keeps the old one.
func TestForcedJobs(t *testing.T) {
	for _, tc := range []struct {
		name, annotation, value string
		stays                   bool
	}{
		{"", "note", "none", false},
		{"applied once", model.AnnotationApply, model.ApplyOnce, true},
		{"kept by another tool", "helm.sh/resource-policy", "keep", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, 1)
			m := model.Manifest{Name: "app", AutoInit: true, K8s: &model.K8sTarget{Objects: []model.K8sObject{{
				APIVersion: "batch/v1", Kind: "Job", Name: "once", Namespace: deploytest.Namespace,
				JSON: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"once","namespace":"` + deploytest.Namespace + `","annotations":{"` + tc.annotation + `":"` + tc.value + `"}},` +
					`"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"busybox"}]}}}}`}}}}
			var uids []types.UID
			for _, force := range []bool{false, true} {
				req := (&diary{}).request(m)
				req.Namespace, req.Force, req.Declared = deploytest.Namespace, force, func() []model.Manifest { return []model.Manifest{m} }
				if _, err := w.cluster.Deploy(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
				job := w.server.Objects("jobs")["once"]
				if job == nil {
					t.Fatalf("after a deploy (by force: %t), there is no Job", force)
				}
				uids = append(uids, job.GetUID())
			}
			if stays := uids[0] == uids[1]; stays != tc.stays {
				t.Errorf("the Job stays: %t", stays)
			}
		})
	}
}
