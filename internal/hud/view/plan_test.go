package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/api"
)

// TestPlanImages shows the images of a plan.
func TestPlanImages(t *testing.T) {
	used := []string{"api", "web"}
	plan := api.Plan{Images: []api.PlanImage{
		{Image: "shop/api", Resources: used, Source: api.ImageToBuild, Reason: "handler.go changed"},
		{Image: "shop/new", Resources: used, Source: api.ImageToBuild, Reason: "never built on this machine"},
		{Image: "shop/web", Resources: used, Source: api.ImageInRegistry, Reference: "r:5000/shop/web:hone-1", Registry: "r:5000", Digest: "sha256:1"},
		{Image: "shop/db", Resources: used, Source: api.ImageBuilt, Reference: "r:5000/shop/db:hone-2", ID: "sha256:2", Reason: "argument A changed"},
		{Image: "shop/job", Resources: used, Source: api.ImageBuilt, Reference: "r:5000/shop/job:hone-3"},
	}}
	want := []string{
		"# image  shop/api: built, because handler.go changed",
		"# image  shop/new: never built on this machine",
		"# image  shop/web: is in r:5000 already  sha256:1",
		"# image  shop/db: built, because argument A changed  sha256:2",
		"# image  shop/job: unchanged  r:5000/shop/job:hone-3",
	}
	var got []string
	for _, l := range PlanLines(plan) {
		var text strings.Builder
		for _, s := range l.Cell {
			text.WriteString(s.Text)
		}
		got = append(got, text.String())
		if l.Target.Resource != "api" {
			t.Errorf("%q belongs to %q", text.String(), l.Target.Resource)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPlanOfSeveralClusters checks that steps stand under their cluster once there are several.
func TestPlanOfSeveralClusters(t *testing.T) {
	step := func(name, cluster string, action api.PlanAction) api.PlanStep {
		return api.PlanStep{Object: api.PlanObject{Kind: "Service", Name: name}, Cluster: cluster, Resource: name, Action: action}
	}
	shown := func(steps ...api.PlanStep) (out []string) {
		for _, l := range PlanLines(api.Plan{Context: "kind-dev", Steps: steps}) {
			out = append(out, strings.TrimSpace(l.Cell.String()))
		}
		return out
	}
	for _, tc := range []struct {
		name string
		got  []string
		want []string
	}{
		{"one", shown(step("a", "", api.ActionCreate), step("b", "", api.ActionCreate)), []string{"+ create  service/a  a", "+ create  service/b  b"}},
		{"two", shown(step("a", "eu", api.ActionCreate), step("b", "", api.ActionCreate), step("c", "eu", api.ActionCreate)),
			[]string{"cluster kind-dev", "+ create  service/b  b", "", "cluster eu", "+ create  service/a  a", "+ create  service/c  c"}},
		{"nothing in the own", shown(step("a", "eu", api.ActionCreate), step("b", "", api.ActionUnchanged)), []string{"cluster eu", "+ create  service/a  a"}},
		{"nothing at all", shown(step("a", "eu", api.ActionUnchanged)), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
