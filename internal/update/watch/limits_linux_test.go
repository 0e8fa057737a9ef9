package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// scarce is a back end with a limited number of watches.
type scarce struct {
	backend
	mu    sync.Mutex
	left  int
	err   error
	added map[string]bool
}

func (s *scarce) Add(dir string, link bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.added[dir] {
		if s.left == 0 {
			return false, s.err
		}
		s.left--
		s.added[dir] = true
	}
	return s.backend.Add(dir, link)
}

func (s *scarce) allow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = n
}

func TestWatchLimit(t *testing.T) {
	t.Parallel()
	b := &scarce{
		backend: newBackend(), left: 2, added: map[string]bool{},
		err: fmt.Errorf("%w: %w", errNoWatches, unix.ENOSPC),
	}
	r := newRig(t, b)
	told := make(chan []*problem.Problem, 10)
	r.w.onProblems = func(ps []*problem.Problem) { told <- ps }
	for i := range 5 {
		write(t, r.path(fmt.Sprintf("d%d/f", i)), "old")
	}
	age(t, r.dir)
	// The side gets the first watch and the root of the tree the second.
	r.set()
	r.set(r.spec("a", []string{"."}))
	r.run()
	ps := <-told
	if len(ps) != 1 || !strings.Contains(ps[0].Mend, "sudo sysctl fs.inotify.max_user_watches=") {
		t.Fatalf("problems %+v", ps)
	}
	if d := cmp.Diff(1, len(r.w.problems())); d != "" {
		t.Error(d)
	}
	for i := range 5 {
		write(t, r.path(fmt.Sprintf("d%d/f", i)), "new")
	}
	write(t, r.path("d1/new/deep/f"), "new")
	do(t, os.Remove(r.path("d4/f")))
	r.await("the changes to be found by comparing", func() bool { return len(r.got["a"]) == 6 })
	if d := cmp.Diff([]string{"a: d0/f d1/f d1/new/deep/f d2/f d3/f d4/f"}, r.take()); d != "" {
		t.Error(d)
	}
	b.allow(1000)
	if ps := <-told; len(ps) != 0 {
		t.Fatalf("problems after the limit was raised: %+v", ps)
	}
	r.settle()
	r.take()
	write(t, r.path("d1/new/deep/f"), "newer")
	r.settle()
	if d := cmp.Diff([]string{"a: d1/new/deep/f"}, r.take()); d != "" {
		t.Error(d)
	}
}

func TestNoInstance(t *testing.T) {
	t.Parallel()
	b := &scarce{
		backend: newBackend(), added: map[string]bool{},
		err: fmt.Errorf("%w: %w", errNoInstance, unix.EMFILE),
	}
	r := newRig(t, b)
	write(t, r.path("f"), "old")
	age(t, r.dir)
	r.set(r.spec("a", []string{"f"}), r.spec("b", []string{"x/y"}))
	r.run()
	ps := r.w.problems()
	if len(ps) != 1 || !strings.Contains(ps[0].Mend, "sudo sysctl fs.inotify.max_user_instances=") {
		t.Fatalf("problems %+v", ps)
	}
	write(t, r.path("f"), "new")
	write(t, r.path("x/y/z"), "new")
	r.await("the changes to be found by comparing", func() bool { return len(r.got["a"]) == 1 && len(r.got["b"]) == 1 })
	if d := cmp.Diff([]string{"a: f", "b: x/y/z"}, r.take()); d != "" {
		t.Error(d)
	}
}

func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	r := newRig(t, newBackend())
	write(t, r.path("d/f"), "")
	do(t, os.Chmod(r.path("d"), 0))
	t.Cleanup(func() { do(t, os.Chmod(r.path("d"), 0o755)) })
	all, some := r.spec("a", []string{"."}), r.spec("a", []string{"."}, "d")
	r.set(all)
	r.run()
	ps := r.w.problems()
	if len(ps) != 1 || !strings.Contains(ps[0].Summary, r.path("d")) {
		t.Errorf("problems %+v", ps)
	}
	r.set(some)
	if ps := r.w.problems(); len(ps) != 0 {
		t.Errorf("problems %+v", ps)
	}
	r.set(all)
	do(t, os.Chmod(r.path("d"), 0o755))
	r.await("the folder to be read", func() bool { return r.got["a"]["d/f"] && len(r.w.problems()) == 0 })
}

// TestOverflow makes the system drop events for real, by causing more than it keeps before they are read.
func TestOverflow(t *testing.T) {
	t.Parallel()
	r := newRig(t, newBackend())
	for i := range 20 {
		write(t, r.path(fmt.Sprintf("d%d/same", i)), "same")
		write(t, r.path(fmt.Sprintf("d%d/old", i)), "old")
	}
	age(t, r.dir)
	var last string
	r.set(r.spec("a", []string{"."}, "noise"), r.spec("b", []string{"noise/f"}))
	limit := 16384
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	do(t, err)
	_, _ = fmt.Sscan(string(text), &limit)
	if limit > 1<<16 {
		t.Skip("the system keeps too many events")
	}
	write(t, r.path("noise/f"), "")
	write(t, r.path("noise/g"), "")
	for i := range limit/2 + 100 { // alternately, since equal neighbours are merged
		last = fmt.Sprint(i)
		f, err := os.OpenFile(r.path([]string{"noise/f", "noise/g"}[i%2]), os.O_WRONLY|os.O_APPEND, 0)
		do(t, err, f.Close())
		f, err = os.OpenFile(r.path([]string{"noise/g", "noise/f"}[i%2]), os.O_WRONLY|os.O_APPEND, 0)
		do(t, err, f.Close())
	}
	write(t, r.path("d3/old"), "new")
	do(t, os.Remove(r.path("d4/old")))
	write(t, r.path("d5/new/file"), last)
	write(t, r.path("d6/same"), "same")
	do(t, os.RemoveAll(r.path("d7")))
	do(t, os.Rename(r.path("d8"), r.path("e8")))
	r.run()
	r.await("what was missed", func() bool { return r.got["a"]["e8/old"] && r.got["a"]["d4/old"] })
	r.settle()
	r.settle()
	want := []string{"a: d3/old d4/old d5/new/file d6/same d7 d7/old d7/same d8 d8/old d8/same e8/old e8/same", "b: noise/f"}
	if d := cmp.Diff(want, r.take()); d != "" {
		t.Error(d)
	}
	write(t, r.path("e8/same"), "watched")
	r.settle()
	if d := cmp.Diff([]string{"a: e8/same"}, r.take()); d != "" {
		t.Error(d)
	}
}

// TestWatchesOnlyWhatIsWanted counts the watches that the system holds.
func TestWatchesOnlyWhatIsWanted(t *testing.T) {
	t.Parallel()
	b := newInotify()
	r := newRig(t, b)
	for _, f := range []string{"node_modules/a/b/c", "src/a/b", "out/keep/x", "out/y/z", ".git/objects/00/x"} {
		write(t, r.path(f), "")
	}
	watched := func() []string {
		b.mu.Lock()
		defer b.mu.Unlock()
		var out []string
		for dir := range b.full {
			if model.IsChild(r.dir, dir) {
				out = append(out, strings.TrimPrefix(dir, r.dir))
			}
		}
		return out
	}
	check := func(want ...string) {
		t.Helper()
		got := map[string]bool{}
		for _, d := range watched() {
			got[d] = true
		}
		exp := map[string]bool{}
		for _, d := range want {
			exp[d] = true
		}
		if d := cmp.Diff(exp, got); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
	}
	r.set(r.spec("a", []string{"."}, "node_modules", "out", "!out/keep"))
	check("", "/src", "/src/a", "/out", "/out/keep")
	r.set(r.spec("a", []string{"."}, "node_modules", "out"), r.spec("b", []string{"out/y/z"}))
	check("", "/src", "/src/a", "/out/y")
	r.set(r.spec("b", []string{"missing/x", "src/a"}))
	check("", "/src/a")
	r.set()
	check()
	if len(r.w.folders) != 1 {
		t.Errorf("%d folders left", len(r.w.folders))
	}
	// Only the side and the folders above it are left.
	b.mu.Lock()
	defer b.mu.Unlock()
	for dir := range b.byDir {
		if !model.IsChild(dir, r.side) {
			t.Errorf("%s is still watched", dir)
		}
	}
	if err := b.file.Close(); err != nil {
		t.Error(err)
	}
}

// TestLateClose: a file that is created and written for some time is reported when it is closed, and a file that is
// never closed is reported when its writer pauses.
func TestLateClose(t *testing.T) {
	t.Parallel()
	r := newRig(t, newBackend())
	r.w.times.unclosed = 30 * time.Millisecond
	r.set(r.spec("a", []string{"."}))
	r.run()
	f, err := os.Create(r.path("f"))
	do(t, err)
	defer f.Close()
	if _, err := f.WriteString("part"); err != nil {
		t.Fatal(err)
	}
	r.await("the file that is open", func() bool { return r.got["a"]["f"] })
	r.take()
	if _, err := f.WriteString("rest"); err != nil {
		t.Fatal(err)
	}
	do(t, f.Close())
	r.await("the file that was closed", func() bool { return r.got["a"]["f"] })
}

// TestKeptOpen: a file that a program keeps open is reported while it is written to, and Sync does not wait for it.
func TestKeptOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, newBackend())
	r.w.times.unclosed, r.w.times.unclosedMax = 10*time.Millisecond, 50*time.Millisecond
	write(t, r.path("log"), "begin\n")
	r.set(r.spec("a", []string{"."}))
	r.run()
	f, err := os.OpenFile(r.path("log"), os.O_WRONLY|os.O_APPEND, 0)
	do(t, err)
	defer f.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = f.WriteString("line\n")
			}
		}
	}()
	defer func() {
		close(stop)
		<-stopped
	}()
	for range 3 {
		r.await("the lines so far", func() bool { return r.got["a"]["log"] })
		r.take()
	}
	do(t, r.w.Sync(t.Context()))
}

// TestLinkedTemporary: a file without a name that is then linked in gives no sign of being closed.
func TestLinkedTemporary(t *testing.T) {
	t.Parallel()
	r := newRig(t, newBackend())
	r.w.times.unclosed = 30 * time.Millisecond
	fd, err := unix.Open(r.dir, unix.O_TMPFILE|unix.O_WRONLY, 0o644)
	if err != nil {
		t.Skip(err)
	}
	f := os.NewFile(uintptr(fd), "tmp")
	defer f.Close()
	r.set(r.spec("a", []string{"."}))
	r.run()
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	do(t, unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, r.path("f"), unix.AT_SYMLINK_FOLLOW))
	r.await("the linked file", func() bool { return r.got["a"]["f"] })
}

func TestRunTwiceAndClosed(t *testing.T) {
	w, err := New(Options{})
	do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	do(t, w.Run(ctx, func(Batch) {}))
	if err := w.Run(t.Context(), func(Batch) {}); err == nil {
		t.Error("a watcher runs twice")
	}
	if err := w.Set([]Spec{{ID: target("a"), WatchSpec: model.WatchSpec{Paths: []string{filepath.Clean(t.TempDir())}}}}, nil); err == nil {
		t.Error("a watcher that has run takes specs")
	}
}

// problems returns the present problems of the watcher.
func (w *Watcher) problems() []*problem.Problem {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.troubles.list()
}
