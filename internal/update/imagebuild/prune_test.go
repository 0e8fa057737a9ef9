package imagebuild

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/containers/docker/dockertest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

func TestPrune(t *testing.T) {
	b, engine := newTestBuilder(t)
	now := b.now()
	var refs []string
	build := func(ref string, n int, age time.Duration, extra ...string) string {
		result, err := b.Build(t.Context(), Request{Target: model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{
			Contents: fmt.Sprintf("FROM busybox\nLABEL n=%d\n", n), ExtraTags: extra}}})
		if err != nil {
			t.Fatal(err)
		}
		engine.SetTaggedAt(result.Local, now.Add(-age))
		refs = append(refs, result.Local)
		return result.Local
	}
	build("api", 1, 10*time.Hour, "api:mine") // 0: loses hone's tag, keeps the user's
	build("api", 2, 9*time.Hour)              // 1: goes
	build("api", 3, 8*time.Hour)              // 2: in use
	build("api", 4, 7*time.Hour)              // 3: named
	build("api", 5, 8*time.Hour)              // 4: goes
	build("api", 6, time.Hour)                // 5: recent
	build("api", 7, 6*time.Hour)              // 6: recent
	build("web", 8, 20*time.Hour)             // 7: the only one of its name
	engine.AddContainer("c", dockertest.Container{Image: refs[2]})
	got, err := b.Prune(t.Context(), PruneRequest{Settings: model.DockerPruneSettings{MaxAge: 5 * time.Hour, KeepRecent: 2}, Of: []string{"api", "web"}, Keep: []string{refs[3]}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got.Refs)
	want := []string{refs[0], refs[1], refs[4]}
	slices.Sort(want)
	if diff := cmp.Diff(want, got.Refs); diff != "" || got.Images != 2 {
		t.Errorf("%d images (-want +got)\n%s", got.Images, diff)
	}
	if _, found, _ := engine.Inspect(t.Context(), "api:mine"); !found {
		t.Error("the user's own reference is gone")
	}
	if _, found, _ := engine.Inspect(t.Context(), "busybox"); !found {
		t.Error("an image that is not hone's is gone")
	}
}

// TestPruneLeavesOthers prunes one image of two: the other's old versions stay, except when all are requested. An image that a user
// built on one of hone's images does not count as a version.
func TestPruneLeavesOthers(t *testing.T) {
	b, engine := newTestBuilder(t)
	built := map[string]string{}
	for i, ref := range []string{"api", "api", "web", "web"} {
		r, err := b.Build(t.Context(), Request{Target: model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{Contents: fmt.Sprintf("FROM busybox\nLABEL n=%d\n", i)}}})
		if err != nil {
			t.Fatal(err)
		}
		engine.SetTaggedAt(r.Local, b.now().Add(time.Duration(i-10)*time.Hour))
		built[fmt.Sprintf("%s%d", ref, i)] = r.Local
	}
	derived, err := engine.Build(t.Context(), docker.BuildRequest{Contents: "FROM " + built["api1"] + "\n", Labels: map[string]string{Label: "api"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Tag(t.Context(), derived, "mine:dev"); err != nil {
		t.Fatal(err)
	}
	settings := model.DockerPruneSettings{MaxAge: time.Hour, KeepRecent: 1}
	for _, tc := range []struct {
		what string
		req  PruneRequest
		gone []string
	}{
		{"of no image", PruneRequest{Settings: settings}, nil},
		{"of another image", PruneRequest{Settings: settings, Of: []string{"ap"}}, nil},
		{"of one image", PruneRequest{Settings: settings, Of: []string{"api"}}, []string{built["api0"]}},
		{"of all images", PruneRequest{Settings: settings, All: true}, []string{built["web2"]}},
	} {
		got, err := b.Prune(t.Context(), tc.req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.gone, got.Refs); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.what, diff)
		}
	}
	if _, found, _ := engine.Inspect(t.Context(), "mine:dev"); !found {
		t.Error("an image that a user built on one of hone's is gone")
	}
}
