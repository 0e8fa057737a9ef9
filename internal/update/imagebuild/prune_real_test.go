package imagebuild

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRealPrune removes the older images of a name from the engine, and keeps the newest, the one in use, and the user's tag.
func TestRealPrune(t *testing.T) {
	t.Parallel()
	engine := realEngine(t)
	ref := "hone-test-prune-" + uuid.NewString()[:8]
	b := New(engine)
	var refs []string
	for i := range 4 {
		target := model.ImageTarget{Ref: ref, Docker: &model.DockerBuild{Contents: fmt.Sprintf("FROM busybox\nLABEL n=%d-%s\n", i, ref)}}
		if i == 0 {
			target.Docker.ExtraTags = []string{ref + ":mine"}
		}
		r, err := b.Build(t.Context(), Request{Target: target})
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, r.Local)
	}
	t.Cleanup(func() {
		for _, r := range append(refs, ref+":mine") {
			if err := engine.Remove(context.Background(), r); err != nil && !docker.IsNotFound(err) {
				t.Error(err)
			}
		}
	})
	done, err := b.Prune(t.Context(), PruneRequest{Settings: model.DockerPruneSettings{MaxAge: time.Hour, KeepRecent: 1}, Of: []string{ref}})
	if err != nil || len(done.Refs) > 0 {
		t.Errorf("young images were removed: %v, %v", done.Refs, err)
	}
	done, err = b.Prune(t.Context(), PruneRequest{Settings: model.DockerPruneSettings{KeepRecent: 1}, Of: []string{ref}, Keep: []string{refs[1]}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(done.Refs)
	gone := []string{refs[0], refs[2]}
	slices.Sort(gone)
	if !slices.Equal(done.Refs, gone) || done.Images != 1 || done.Bytes == 0 {
		t.Errorf("removed %+v, want %v", done, gone)
	}
	for r, want := range map[string]bool{refs[0]: false, refs[1]: true, refs[2]: false, refs[3]: true, ref + ":mine": true} {
		if _, found, err := engine.Inspect(t.Context(), r); err != nil || found != want {
			t.Errorf("%s: found %v, %v; want %v", r, found, err, want)
		}
	}
}
