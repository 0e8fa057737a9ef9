package buildcontroller

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// bases records the images whose bases it is asked to fetch.
type bases struct {
	mu    sync.Mutex
	asked []string
}

func (b *bases) Fetch(_ context.Context, target model.ImageTarget, _ string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, target.Ref)
}

// TestFetchesBasesOfWaiting fetches the bases for an update that waits, and for none that begins, once for each evaluation of the Tiltfile.
func TestFetchesBasesOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bases
		web := statetest.K8s("web", statetest.Image("web"))
		web.ResourceDeps = []model.ManifestName{"tool"} // it may write files of the image
		all := []model.Manifest{statetest.Local("tool"), statetest.K8s("other", statetest.Image("other")), web}
		f := start(t, Options{Bases: &b}, all...)
		f.deploy("other")
		synctest.Wait()
		if diff := cmp.Diff([]string{"web"}, b.asked); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		f.Then(state.TiltfileStarted{}, statetest.Loaded(all...))
		synctest.Wait()
		if diff := cmp.Diff([]string{"web", "web"}, b.asked); diff != "" {
			t.Errorf("after the Tiltfile was evaluated again (-want +got):\n%s", diff)
		}
	})
}
