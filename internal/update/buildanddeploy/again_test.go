package buildanddeploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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
