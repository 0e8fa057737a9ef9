package buildcontrol

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
)

// BenchmarkDecideSynced decides about a resource whose container has all of the given number of changes since its image was
// built: with nothing to do, and with one more file that was noticed.
func BenchmarkDecideSynced(b *testing.B) {
	for _, files := range []int{10, 5000} {
		paths := make([]string, files)
		for i := range paths {
			paths[i] = fmt.Sprintf("/src/a/folder%d/file%d.go", i%70, i)
		}
		s := up(same, statetest.K8s("a", statetest.Image("a"))).Deployed("a").
			Then(statetest.Healthy("a"), statetest.Pod("a", "p", "c1", "a:1"), statetest.Change("a", paths...)).
			Begin("a").Finish("a", func(c *state.BuildCompleted) { c.Mode, c.Synced = "synclet", []string{"c1"} })
		for _, bb := range []struct {
			name string
			then []store.Action
			want string
		}{
			{"nothing", nil, ""},
			{"noticed", []store.Action{noticed("a", paths[files/2])}, "start a: files changed " + paths[files/2] + " (in place)"},
		} {
			v := s.Then(bb.then...).View()
			if got := text(decide(v, nil)); got != bb.want {
				b.Fatalf("%s: %q, want %q", bb.name, got, bb.want)
			}
			b.Run(fmt.Sprintf("%s/changes=%d", bb.name, files), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					decide(v, nil)
				}
			})
		}
	}
}
