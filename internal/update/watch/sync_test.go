package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSync changes files in every way and checks that all changes are reported when Sync returns.
func TestSync(t *testing.T) {
	for name, backend := range fences() {
		t.Run(name, func(t *testing.T) { testSync(t, backend()) })
	}
}

func testSync(t *testing.T, b backend) {
	t.Helper()
	r := newRig(t, b)
	for _, f := range []string{"old/changed", "old/gone", "old/moved"} {
		write(t, r.path(f), "before")
	}
	age(t, r.dir)
	r.set(r.spec("a", []string{"."}))
	r.run()
	for n := range 20 {
		name := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		write(t, r.path("old/changed"), name("after "))
		write(t, r.path(name("old/new")), "x")
		write(t, r.path(name("deep/er")+"/and/er"), "x")
		write(t, r.path(name("large")), strings.Repeat(name("x"), smallFile))
		write(t, r.path(name("old/tmp")), "x")
		if err := os.Rename(r.path(name("old/tmp")), r.path(name("old/renamed"))); err != nil {
			t.Fatal(err)
		}
		want := []string{"old/changed", name("old/new"), name("deep/er") + "/and/er", name("large"), name("old/renamed")}
		if n == 0 {
			if err := os.Remove(r.path("old/gone")); err != nil {
				t.Fatal(err)
			}
			want = append(want, "old/gone")
		}
		if err := r.w.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		for _, f := range want {
			if !r.got["a"][f] {
				t.Errorf("round %d: %s was not reported: %v", n, f, r.got["a"])
			}
		}
		clear(r.got)
		r.mu.Unlock()
	}
}

// TestSyncWithoutRun checks that Sync ends with its context, and does not wait if no folder is watched.
func TestSyncWithoutRun(t *testing.T) {
	w, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := w.Sync(ctx); err != nil {
		t.Errorf("nothing is watched: %v", err)
	}
	if err := w.Set([]Spec{{ID: target("a")}}, nil); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, newBackend())
	r.set(r.spec("a", []string{"."}))
	cancel()
	if err := r.w.Sync(ctx); err == nil {
		t.Error("no error though Run does not read events")
	}
	r.run() // releases the system's resources
}

// TestMarksOutliveOverflow drops notices on their way to the watcher and checks that the marks among them arrive.
func TestMarksOutliveOverflow(t *testing.T) {
	b, m := newInbox(), &mark{passed: make(chan struct{})}
	b.put([]notice{{op: opClosed, path: filepath.Join("a", "b")}, {op: opMark, mark: m}})
	b.put(make([]notice, maxInbox))
	if got, _ := b.take(); len(got) != 2 || got[0].op != opOverflow || got[1].mark != m {
		t.Errorf("%d notices", len(got))
	}
}

// TestSettlerSync checks that Sync returns when the receiver has all earlier changes, and does not wait for later ones.
func TestSettlerSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSettler(SettlerOptions{Locked: func([]string) bool { return false }})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := s.Sync(ctx); err != nil {
			t.Errorf("nothing to wait for: %v", err)
		}
		s.Add(change("a", "/x"))
		short, stop := context.WithTimeout(ctx, time.Second)
		defer stop()
		if err := s.Sync(short); err == nil {
			t.Error("no error though Run is not running")
		}
		var got []string
		go func() {
			_ = s.Run(ctx, func(b Batch) {
				time.Sleep(10 * time.Millisecond) // the receiver takes its time
				for _, c := range b.Changes {
					got = append(got, c.ID.Name)
				}
			})
		}()
		s.Add(change("b", "/y"))
		go func() {
			time.Sleep(20 * time.Millisecond)
			s.Add(change("c", "/z"))
		}()
		if err := s.Sync(ctx); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
			t.Errorf("handed over (-want +got):\n%s", diff)
		}
		cancel()
		synctest.Wait()
	})
}
