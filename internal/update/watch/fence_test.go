package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// unordered is a back end of a system that does not order the events of different folders.
type unordered struct{ *portable }

func (unordered) Mark(*mark) error { return errors.ErrUnsupported }

// deaf is a back end that no event ever reaches, as on a system without watches.
type deaf struct{ unordered }

func (deaf) Add(dir string, _ bool) (bool, error) {
	return false, fmt.Errorf("watch %s: %w", dir, errNoWatches)
}

// fences returns the back ends, with each way to know that all changes have been seen.
func fences() map[string]func() backend {
	all := backends()
	all["unordered"] = func() backend { return unordered{newPortable()} }
	all["deaf"] = func() backend { return deaf{unordered{newPortable()}} }
	return all
}

// vandal changes a tree at random.
type vandal struct {
	t      *testing.T
	dir    string
	random *rand.Rand
	n      int
}

// name returns the path of an entry that may exist, at most three folders deep.
func (v *vandal) name() string {
	path := v.dir
	for range v.random.IntN(3) {
		path = filepath.Join(path, fmt.Sprintf("d%d", v.random.IntN(4)))
	}
	return filepath.Join(path, fmt.Sprintf("f%d", v.random.IntN(8)))
}

// text returns a content that no file has had.
func (v *vandal) text() string { v.n++; return fmt.Sprint(v.n) }

// change makes one change. A step that the state of the tree does not allow is left out.
func (v *vandal) change() {
	path, dir := v.name(), filepath.Dir(v.name())
	switch v.random.IntN(10) {
	case 0, 1, 2:
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		_ = os.WriteFile(path, []byte(v.text()), 0o644)
	case 3: // as editors do
		if os.WriteFile(path+".tmp", []byte(v.text()), 0o644) == nil {
			_ = os.Rename(path+".tmp", path)
		}
	case 4:
		_ = os.Remove(path)
	case 5:
		_ = os.Rename(path, v.name())
	case 6:
		if dir != v.dir {
			_ = os.Rename(dir, filepath.Dir(v.name()))
		}
	case 7:
		if dir != v.dir && v.random.IntN(3) == 0 {
			_ = os.RemoveAll(dir)
		}
	case 8:
		_ = os.Symlink(v.text(), path)
	case 9:
		_ = os.Chmod(path, []fs.FileMode{0o644, 0o755}[v.random.IntN(2)])
	}
}

// contents returns the content and mode of each file and link below a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		if d.Type()&fs.ModeSymlink == 0 {
			text, err = os.ReadFile(path)
		} else {
			var to string
			to, err = os.Readlink(path)
			text = []byte(to)
		}
		rel, _ := filepath.Rel(dir, path)
		out[rel] = fmt.Sprint(info.Mode(), string(text))
		return err
	}))
	return out
}

// TestSyncAfterRandomChanges makes thousands of changes, and checks that when Sync returns, each file that is not as it was before has
// been reported: for each back end, and where the order of events is unknown, or none comes. Callers of Sync do not disturb each other, and
// nothing else is reported.
func TestSyncAfterRandomChanges(t *testing.T) {
	t.Parallel()
	rounds, changes := 120, 30
	if testing.Short() {
		rounds = 25
	}
	for name, backend := range fences() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, backend())
			r.w.times = defaultTimings
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			v := &vandal{t: t, dir: r.dir, random: rand.New(rand.NewPCG(seed, 1))}
			r.set(r.spec("a", []string{"."}))
			r.run()
			known := map[string]bool{}
			for round := range rounds {
				before := contents(t, r.dir)
				for range 1 + v.random.IntN(changes) {
					v.change()
				}
				after := contents(t, r.dir)
				var calls sync.WaitGroup
				for range 1 + v.random.IntN(3) {
					calls.Go(func() {
						if err := r.w.Sync(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				calls.Wait()
				for path := range after {
					known[path] = true
				}
				r.mu.Lock()
				got := maps.Clone(r.got["a"])
				clear(r.got)
				r.mu.Unlock()
				for path := range known {
					if before[path] != after[path] && !got[path] {
						t.Fatalf("round %d: %s was %q, is %q, and was not reported: %v", round, path, before[path], after[path], slices.Sorted(maps.Keys(got)))
					}
				}
			}
		})
	}
}

// TestSyncComparesRemoteFiles checks that a change on a file system that sends no events is known when Sync returns.
func TestSyncComparesRemoteFiles(t *testing.T) {
	r := newRig(t, newBackend())
	write(t, r.path("far/f"), "before")
	age(t, r.dir)
	r.set(r.spec("a", []string{"far"}))
	r.run()
	r.w.locked(func() {
		f := r.w.folders[r.path("far")]
		r.w.backend.Remove(f.path) // another machine changes the file
		f.remote = true
		r.w.polling.mark(f, false)
		r.w.polling.due = time.Now().Add(time.Hour)
	})
	write(t, r.path("far/f"), "after")
	do(t, r.w.Sync(t.Context()))
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.got["a"]["far/f"] {
		t.Errorf("got %v", r.got)
	}
}

// TestCookieLeavesNoTrace checks that the mark of the portable back end is gone when it has passed, and that nothing is reported of it even
// where temporary folders are watched.
func TestCookieLeavesNoTrace(t *testing.T) {
	r := newRig(t, newPortable())
	tmp := r.path("tmp")
	write(t, filepath.Join(tmp, "kept"), "")
	age(t, r.dir)
	t.Setenv("TMPDIR", tmp)
	r.set(r.spec("a", []string{"."}))
	r.run()
	for range 100 {
		do(t, r.w.Sync(t.Context()))
	}
	r.settle()
	if got := r.take(); len(got) > 0 {
		t.Errorf("reported %v", got)
	}
	if left := contents(t, tmp); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// TestSyncWithoutCookie checks that Sync compares all files where no mark can be made.
func TestSyncWithoutCookie(t *testing.T) {
	r := newRig(t, newPortable())
	r.set(r.spec("a", []string{"."}))
	r.run()
	t.Setenv("TMPDIR", r.path("there/is/none"))
	write(t, r.path("f"), "")
	do(t, r.w.Sync(t.Context()))
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.got["a"]["f"] {
		t.Errorf("got %v", r.got)
	}
}

// TestLostEventsReachMarks checks that the marks whose events were lost are passed on behind the comparison of all files.
func TestLostEventsReachMarks(t *testing.T) {
	p, m := newPortable(), &mark{}
	p.marks["/tmp/hone-cookie-1"] = m
	if ns := p.missed(); len(ns) != 2 || ns[0].op != opOverflow || ns[1].mark != m || len(p.marks) > 0 {
		t.Errorf("%+v, left %v", ns, p.marks)
	}
}
