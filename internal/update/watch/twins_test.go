package watch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTwins writes a file that has several names, each of which belongs to another consumer.
func TestTwins(t *testing.T) {
	for name, backend := range backends() {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, backend())
			write(t, r.path("a/f"), "one")
			write(t, r.path("b/other"), "other")
			do(t, os.Link(r.path("a/f"), r.path("b/f")))
			age(t, r.dir)
			r.set(r.spec("a", []string{"a"}), r.spec("b", []string{"b"}))
			r.run()
			r.hashedAll()
			steps := []struct {
				what string
				do   func() error
				want []string
			}{
				{"written in place", func() error { return os.WriteFile(r.path("a/f"), []byte("two"), 0o644) }, []string{"a: a/f", "b: b/f"}},
				{"the other name", func() error { return os.WriteFile(r.path("b/f"), []byte("three"), 0o644) }, []string{"a: a/f", "b: b/f"}},
				{"a third name", func() error { return os.Link(r.path("a/f"), r.path("b/g")) }, []string{"b: b/g"}},
				{"all of them", func() error { return os.WriteFile(r.path("b/g"), []byte("four"), 0o644) }, []string{"a: a/f", "b: b/f b/g"}},
				{"replaced", func() error {
					return os.Rename(filepath.Join(r.side, "new"), r.path("a/f"))
				}, []string{"a: a/f"}},
				{"its former twins", func() error { return os.WriteFile(r.path("b/f"), []byte("six"), 0o644) }, []string{"b: b/f b/g"}},
			}
			for _, s := range steps {
				write(t, filepath.Join(r.side, "new"), "five")
				r.settle()
				r.take()
				do(t, s.do())
				r.settle()
				if got := r.take(); !slices.Equal(got, s.want) {
					t.Errorf("%s: got %q, want %q", s.what, got, s.want)
				}
			}
		})
	}
}
