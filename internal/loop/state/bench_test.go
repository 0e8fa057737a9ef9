package state_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// BenchmarkReduce is the loop with hone's own tables and 300 resources; an operation is an action.
func BenchmarkReduce(b *testing.B) {
	const resources = 300
	names := make([]string, resources)
	manifests := make([]model.Manifest, resources)
	for i := range names {
		names[i] = fmt.Sprintf("r%03d", i)
		manifests[i] = statetest.K8s(names[i], statetest.Image(names[i]))
	}
	for _, bb := range []struct {
		name   string
		action func(i int) store.Action
	}{
		{"PodChanged", func(i int) store.Action {
			pod := statetest.Pod(names[i%resources], names[i%resources], "c", "image:1")
			pod.Pod.Message = fmt.Sprint(i) // no two are the same
			return pod
		}},
		{"FilesChanged", func(i int) store.Action {
			return statetest.Change(names[i%resources], fmt.Sprintf("/src/%s/%d", names[i%resources], i/resources%100))
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := store.New(state.Schema)
			s.Dispatch(statetest.Loaded(manifests...))
			s.Step()
			actions := make([]store.Action, 8192)
			for i := range actions {
				actions[i] = bb.action(i)
			}
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() { s.Run(ctx); close(done) }()
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				s.Dispatch(actions[i%len(actions)])
			}
			cancel()
			<-done
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "actions/s")
		})
	}
}

// BenchmarkSave is a save that is noticed and settles, of a resource with this number of changes since its image was built.
func BenchmarkSave(b *testing.B) {
	for _, files := range []int{10, 5000} {
		b.Run(fmt.Sprintf("changes=%d", files), func(b *testing.B) {
			paths := make([]string, files)
			for i := range paths {
				paths[i] = fmt.Sprintf("/src/a/folder%d/file%d.go", i%70, i)
			}
			s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("a", statetest.Image("a")))).
				Deployed("a").Then(statetest.Change("a", paths...))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				change := statetest.Change("a", paths[i*7%files])
				s.Then(state.FilesNoticed(change), change)
			}
		})
	}
}
