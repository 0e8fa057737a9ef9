package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// bigTree makes a tree of 20,000 files in 1,000 folders.
func bigTree(b *testing.B) string {
	b.Helper()
	top := b.TempDir()
	for d := range 1000 {
		dir := filepath.Join(top, fmt.Sprintf("p%d/q%d/r%d", d%10, d/10%10, d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", f)), []byte("package x\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return top
}

var benchIgnores = []string{"node_modules", "**/*.pyc", "dist", "!dist/keep", "**/.cache", ".env"}

// BenchmarkWalk measures how long Set takes to watch a tree of 20,000 files.
func BenchmarkWalk(b *testing.B) {
	top := bigTree(b)
	spec := Spec{ID: target("a"), WatchSpec: model.WatchSpec{
		Paths: []string{top}, Ignores: []model.Ignore{{Base: top, Patterns: benchIgnores}},
	}}
	for b.Loop() {
		w, err := New(Options{})
		do(b, err, w.Set([]Spec{spec}, nil))
		b.StopTimer()
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		do(b, w.Run(ctx, func(Batch) {}))
		b.StartTimer()
	}
}

// BenchmarkEvent measures the time from the close of a saved file to the call of the sink, with 20,000 watched files.
func BenchmarkEvent(b *testing.B) {
	for _, specs := range []int{1, 300} {
		b.Run(fmt.Sprintf("specs=%d", specs), func(b *testing.B) {
			top := bigTree(b)
			w, err := New(Options{})
			do(b, err)
			var all []Spec
			for i := range specs {
				all = append(all, Spec{ID: target(fmt.Sprint(i)), WatchSpec: model.WatchSpec{
					Paths: []string{top}, Ignores: []model.Ignore{{Base: top, Patterns: append([]string{fmt.Sprint("own", i)}, benchIgnores...)}},
				}})
			}
			do(b, w.Set(all, nil))
			ctx, cancel := context.WithCancel(b.Context())
			seen := make(chan time.Time, 100)
			done := make(chan error)
			go func() { done <- w.Run(ctx, func(Batch) { seen <- time.Now() }) }()
			path := filepath.Join(top, "p1/q1/r11/file3.go")
			text := make([]byte, 10<<10)
			var took []time.Duration
			for i := range 1 << 30 {
				if !b.Loop() {
					break
				}
				copy(text, fmt.Sprint(i))
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
				do(b, err)
				_, err = f.Write(text)
				closed := time.Now()
				do(b, err, f.Close())
				took = append(took, (<-seen).Sub(closed))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
			cancel()
			do(b, <-done)
		})
	}
}

// BenchmarkSetUnchanged measures a Set of 300 specs that are set already.
func BenchmarkSetUnchanged(b *testing.B) {
	w, err := New(Options{})
	do(b, err)
	var specs []Spec
	for i := range 300 {
		dir := filepath.Join(b.TempDir(), fmt.Sprint(i))
		do(b, os.Mkdir(dir, 0o755))
		specs = append(specs, Spec{ID: target(dir), WatchSpec: model.WatchSpec{
			Paths: []string{dir}, Ignores: []model.Ignore{{Base: dir, Patterns: benchIgnores}},
		}})
	}
	do(b, w.Set(specs, nil))
	for b.Loop() {
		do(b, w.Set(specs, nil))
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	do(b, w.Run(ctx, func(Batch) {}))
}
