package watch

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a watcher on a temporary tree, with a folder next to the tree whose events mark points in time.
type rig struct {
	t    testing.TB
	w    *Watcher
	dir  string // the tree
	side string
	n    int

	mu   sync.Mutex
	got  map[string]map[string]bool // target -> paths relative to dir
	last []Batch
	news chan struct{}
}

const sideName = "side"

func newRig(t testing.TB, b backend) *rig {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(top, "tree"), side: filepath.Join(top, "side"), news: make(chan struct{}, 1)}
	r.got = map[string]map[string]bool{}
	r.w, err = newWatcher(Options{}, b)
	if err != nil {
		t.Fatal(err)
	}
	// A busy machine must not split changes that belong together.
	r.w.times.fresh, r.w.times.written, r.w.times.gone = 25*time.Millisecond, 25*time.Millisecond, 100*time.Millisecond
	for _, d := range []string{r.dir, r.side} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func target(name string) model.TargetID {
	return model.TargetID{Type: model.TargetLocal, Name: name}
}

// spec returns a spec for paths relative to the tree, with patterns relative to the tree.
func (r *rig) spec(name string, paths []string, patterns ...string) Spec {
	s := Spec{ID: target(name)}
	for _, p := range paths {
		s.Paths = append(s.Paths, filepath.Join(r.dir, p))
	}
	s.Ignores = []model.Ignore{{Base: r.dir, Patterns: patterns, Source: "test"}}
	return s
}

func (r *rig) set(specs ...Spec) {
	r.t.Helper()
	side := Spec{ID: target(sideName), WatchSpec: model.WatchSpec{Paths: []string{r.side}}}
	if err := r.w.Set(append(specs, side), nil); err != nil {
		r.t.Fatal(err)
	}
}

// run runs the watcher until the test ends.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.w.Run(ctx, r.sink) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("Run: %v", err)
		}
	})
}

func (r *rig) sink(b Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = append(r.last, b)
	for _, c := range b.Changes {
		paths := r.got[c.ID.Name]
		if paths == nil {
			paths = map[string]bool{}
			r.got[c.ID.Name] = paths
		}
		if len(c.Prints) != len(c.Paths) || !slices.IsSorted(c.Paths) {
			r.t.Errorf("malformed change %+v", c)
		}
		for _, p := range c.Paths {
			rel, err := filepath.Rel(r.dir, p)
			if err != nil {
				r.t.Error(err)
			}
			paths[rel] = true
		}
	}
	poke(r.news)
}

// await waits until ok holds for the reported changes.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	late := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		r.mu.Lock()
		done := ok()
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-r.news:
		case <-tick.C:
		case <-late:
			r.t.Fatalf("timed out waiting for %s; got %v", what, r.got)
		}
	}
}

// settle waits until everything that happened before has been looked at: a file comes and goes at the side, and the
// removal is reported after the longest of the usual waits.
func (r *rig) settle() {
	r.t.Helper()
	r.n++
	name := strconv.Itoa(r.n)
	path := filepath.Join(r.side, name)
	rel, _ := filepath.Rel(r.dir, path)
	write(r.t, path, name)
	r.await("the sign at the side", func() bool { return r.got[sideName][rel] })
	r.mu.Lock()
	delete(r.got[sideName], rel)
	r.mu.Unlock()
	if err := os.Remove(path); err != nil {
		r.t.Fatal(err)
	}
	r.await("the end of the sign at the side", func() bool { return r.got[sideName][rel] })
	r.await("the hasher", func() bool {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		r.w.hasher.mu.Lock()
		defer r.w.hasher.mu.Unlock()
		return len(r.w.hasher.urgent) == 0
	})
}

// hashedAll waits until every known file has been read.
func (r *rig) hashedAll() {
	r.t.Helper()
	r.await("all files to be hashed", func() bool {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		for _, f := range r.w.folders {
			for _, rec := range f.files {
				if !rec.hashed && rec.size <= smallFile {
					return false
				}
			}
		}
		return true
	})
}

// take returns the reports since the last call, as "target: path …" in order.
func (r *rig) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.got, sideName)
	var out []string
	for id, paths := range r.got {
		out = append(out, id+": "+strings.Join(slices.Sorted(maps.Keys(paths)), " "))
	}
	sort.Strings(out)
	r.got = map[string]map[string]bool{}
	r.last = nil
	return out
}

func (r *rig) path(rel string) string { return filepath.Join(r.dir, rel) }

// write writes a file, with the folders that it needs.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// age makes every file below dir an hour old, as if it had been there before.
func age(t testing.TB, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// backends returns the back ends of this system.
func backends() map[string]func() backend {
	return map[string]func() backend{"native": newBackend, "portable": func() backend { return newPortable() }}
}
