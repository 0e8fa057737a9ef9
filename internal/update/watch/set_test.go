package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestSetErrors(t *testing.T) {
	w, err := New(Options{})
	do(t, err)
	bad := Spec{ID: target("a"), WatchSpec: model.WatchSpec{
		Paths: []string{t.TempDir()}, Ignores: []model.Ignore{{Base: "/", Patterns: []string{"["}, Source: "ignore of a"}},
	}}
	if p, ok := problem.Of(w.Set([]Spec{bad}, nil)); !ok || !strings.Contains(p.Summary, "ignore of a") {
		t.Errorf("got %+v, want a problem", p)
	}
	if err := w.Set(nil, bad.Ignores); err == nil {
		t.Error("a bad global pattern is no error")
	}
	if err := w.Set([]Spec{{ID: target("a"), WatchSpec: model.WatchSpec{Paths: []string{"rel"}}}}, nil); err == nil {
		t.Error("a relative path is no error")
	}
	if _, err := New(Options{GlobalIgnores: bad.Ignores}); err == nil {
		t.Error("a bad pattern in the options is no error")
	}
}

// TestSetWhileRunning changes the specs and checks that no change is lost or made up.
func TestSetWhileRunning(t *testing.T) {
	for name, newBackend := range backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, newBackend())
			for _, f := range []string{"a/f", "b/f", "b/ig/f", "c"} {
				write(t, r.path(f), "old")
			}
			age(t, r.dir)
			r.set(r.spec("a", []string{"a"}))
			r.run()
			r.set(r.spec("a", []string{"a"}), r.spec("b", []string{"b"}, "b/ig"))
			r.hashedAll()
			for _, f := range []string{"a/f", "b/f", "b/ig/f", "c"} {
				write(t, r.path(f), "new")
			}
			r.settle()
			if d := cmp.Diff([]string{"a: a/f", "b: b/f"}, r.take()); d != "" {
				t.Error(d)
			}
			// A file that was ignored until now exists, but has not changed since it became wanted.
			r.set(r.spec("b", []string{"b"}), r.spec("c", []string{"c"}))
			r.settle()
			if d := cmp.Diff([]string(nil), r.take()); d != "" {
				t.Error(d)
			}
			for _, f := range []string{"a/f", "b/f", "b/ig/f", "c"} {
				write(t, r.path(f), "newer")
			}
			r.settle()
			if d := cmp.Diff([]string{"b: b/f b/ig/f", "c: c"}, r.take()); d != "" {
				t.Error(d)
			}
			r.set()
			for _, f := range []string{"a/f", "b/f", "c"} {
				write(t, r.path(f), "newest")
			}
			r.settle()
			if d := cmp.Diff([]string(nil), r.take()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGlobalIgnores(t *testing.T) {
	t.Parallel()
	r := newRig(t, newBackend())
	write(t, r.path("d/f"), "")
	spec := r.spec("a", []string{"."})
	r.set(spec)
	r.run()
	side := Spec{ID: target(sideName), WatchSpec: model.WatchSpec{Paths: []string{r.side}}}
	do(t, r.w.Set([]Spec{spec, side}, []model.Ignore{{Base: r.dir, Patterns: []string{"d", "*.x"}}}))
	write(t, r.path("d/f"), "new")
	write(t, r.path("g.x"), "new")
	write(t, r.path("g"), "new")
	r.settle()
	if d := cmp.Diff([]string{"a: g"}, r.take()); d != "" {
		t.Error(d)
	}
	do(t, r.w.Set([]Spec{spec, side}, nil))
	r.settle()
	if d := cmp.Diff([]string(nil), r.take()); d != "" {
		t.Error(d)
	}
	write(t, r.path("d/f"), "newer")
	r.settle()
	if d := cmp.Diff([]string{"a: d/f"}, r.take()); d != "" {
		t.Error(d)
	}
}

// TestNothingLostUnderFire changes files from several goroutines while the specs change, and checks that in the end each
// file's last state was reported.
func TestNothingLostUnderFire(t *testing.T) {
	for name, newBackend := range backends() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, newBackend())
			for i := range 40 {
				write(t, r.path(fmt.Sprintf("d%d/f", i%8)), "old")
			}
			a, b := r.spec("a", []string{"."}), r.spec("b", []string{"d1", "d2/new"}, "**/x")
			r.set(a)
			r.run()
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for i := range 60 {
						dir := r.path(fmt.Sprintf("d%d", (g*2+i)%8))
						path := fmt.Sprintf("%s/g%d/n%d/f", dir, g, i%5)
						if err := os.MkdirAll(path[:len(path)-2], 0o755); err != nil {
							t.Error(err)
						}
						if err := os.WriteFile(path, fmt.Append(nil, g, i), 0o644); err != nil {
							t.Error(err)
						}
						if i%7 == 0 {
							if err := os.RemoveAll(path[:len(path)-2]); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			wg.Go(func() {
				for i := range 20 {
					if i%2 == 0 {
						r.set(a, b)
					} else {
						r.set(a)
					}
				}
			})
			wg.Wait()
			r.settle()
			r.settle()
			// The watcher's records must match the files.
			r.w.mu.Lock()
			defer r.w.mu.Unlock()
			for dir, f := range r.w.folders {
				if !model.IsChild(r.dir, dir) {
					continue
				}
				for fname, rec := range f.files {
					st, err := lstat(join(dir, fname))
					if err != nil || st.size != rec.size || st.ino != rec.ino {
						t.Errorf("%s: known %+v, but there is %+v, %v", join(dir, fname), rec, st, err)
					}
				}
				entries, err := os.ReadDir(dir)
				if err != nil {
					t.Errorf("watched folder: %v", err)
				}
				for _, e := range entries {
					_, file := f.files[e.Name()]
					_, sub := f.subs[e.Name()]
					if !file && !sub {
						t.Errorf("%s is not known", join(dir, e.Name()))
					}
					if sub && r.w.folders[join(dir, e.Name())] == nil {
						t.Errorf("%s is not watched", join(dir, e.Name()))
					}
				}
			}
		})
	}
}

func TestBatchClock(t *testing.T) {
	t.Parallel()
	r := newRig(t, newBackend())
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	r.w.clock = func() time.Time { return at }
	write(t, r.path("f"), "1")
	age(t, r.dir)
	r.set(r.spec("a", []string{"f"}))
	r.run()
	r.hashedAll()
	write(t, r.path("f"), "2")
	r.await("the change", func() bool { return r.got["a"]["f"] })
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.last[0]
	if !b.At.Equal(at) {
		t.Errorf("at %v", b.At)
	}
	if p := b.Changes[0].Prints[0]; p.Was == PrintUnknown || p.Now == PrintUnknown || p.Was == p.Now {
		t.Errorf("prints %+v", p)
	}
}

// endingBackend ends the context of Run while Set watches a tree.
type endingBackend struct {
	backend
	end   func()
	added int
}

func (b *endingBackend) Add(dir string, link bool) (bool, error) {
	if b.added++; b.added == 3 {
		b.end()
	}
	return b.backend.Add(dir, link)
}

// TestSetEndsWithRun checks that Set does not go on to read a large tree when the session ends, and that a later Set fails at once.
func TestSetEndsWithRun(t *testing.T) {
	b := &endingBackend{backend: newBackend()}
	r := newRig(t, b)
	for i := range 100 {
		do(t, os.MkdirAll(filepath.Join(r.dir, fmt.Sprint(i), "below"), 0o755))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.w.Run(ctx, r.sink) }()
	b.end = func() {
		cancel()
		for !r.w.ended.Load() {
			runtime.Gosched()
		}
	}
	tree := r.spec("a", []string{"."})
	if err := r.w.Set([]Spec{tree}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if b.added != 3 {
		t.Errorf("%d folders were read", b.added)
	}
	do(t, <-ended)
	tree.Paths = append(tree.Paths, r.side)
	if err := r.w.Set([]Spec{tree}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Run: got %v", err)
	}
}
