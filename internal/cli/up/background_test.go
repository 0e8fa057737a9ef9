package up

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// readFile returns the content of a file.
func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// newBackground returns the log of a session in the background, bounded to the given number of bytes.
func newBackground(t *testing.T, limit int64) *background {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &background{file: f, limit: limit, path: path}
}

// TestBackgroundLogIsBounded writes far more than the bound from several sides: two files of at most that size are left, and
// together they hold the newest lines without a gap.
func TestBackgroundLogIsBounded(t *testing.T) {
	const limit, writers, lines = 10_000, 4, 2_000
	b := newBackground(t, limit)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range lines {
				if _, err := fmt.Fprintf(b, "%d %d\n", w, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	older, newer := readFile(t, b.older()), readFile(t, b.path)
	if len(older) > limit || len(newer) > limit || len(older) < limit/2 {
		t.Errorf("%d and %d bytes", len(older), len(newer))
	}
	next := map[int]int{}
	for line := range strings.Lines(older + newer) {
		var w, i int
		if _, err := fmt.Sscanf(line, "%d %d\n", &w, &i); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if want, known := next[w]; known && i != want {
			t.Fatalf("%q, but %d comes next", line, want)
		}
		next[w] = i + 1
	}
	for w, i := range next {
		if i != lines {
			t.Errorf("writer %d ends at %d", w, i)
		}
	}
}

// TestBackgroundLogOfOthers writes to the file directly, as a crash does: output after the file has started over is at its
// beginning.
func TestBackgroundLogOfOthers(t *testing.T) {
	b := newBackground(t, 100)
	other, err := os.OpenFile(b.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	long := strings.Repeat("x", 99) + "\n"
	fmt.Fprint(b, "first\n")
	fmt.Fprint(other, "panic\n")
	fmt.Fprint(b, long)
	fmt.Fprint(other, "again\n")
	if older, newer := readFile(t, b.older()), readFile(t, b.path); older != "first\npanic\n" || newer != long+"again\n" {
		t.Errorf("%q, then %q", older, newer)
	}
	// A write that is longer than the bound is still written.
	longer := strings.Repeat("y", 500) + "\n"
	fmt.Fprint(b, longer)
	if newer := readFile(t, b.path); newer != longer {
		t.Errorf("%q", newer)
	}
	// A log that cannot be copied is also bounded, and reports the loss.
	if err := os.Remove(b.older()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.older(), 0o700); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(b, "last\n")
	if newer := readFile(t, b.path); !strings.HasPrefix(newer, "earlier output is lost: ") || !strings.HasSuffix(newer, "last\n") {
		t.Errorf("%q", newer)
	}
}
