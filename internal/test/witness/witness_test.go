//go:build linux

package witness

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSightings checks that files that are written in place or renamed over others are seen with their content, and
// staged files are not.
func TestSightings(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	type seen struct{ path, content string }
	all := make(chan seen, 10)
	w, err := Open(root, []string{"d"}, func(s Sighting) {
		if s.At.Before(s.Woken) {
			t.Errorf("%s was read before its notice", s.Path)
		}
		all <- seen{s.Path, string(s.Content)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := func(s seen) {
		t.Helper()
		if got := <-all; got != s {
			t.Errorf("saw %+v, want %+v", got, s)
		}
	}
	write("d/a", "one")
	want(seen{"d/a", "one"})
	write("d/.tmp", "two")
	if err := os.Rename(filepath.Join(root, "d/.tmp"), filepath.Join(root, "d/a")); err != nil {
		t.Fatal(err)
	}
	want(seen{"d/a", "two"})
	write("beside", "not watched")
	w.Look("d/none")
	w.Look("beside")
	want(seen{"beside", "not watched"})
}

func TestNoSuchContainer(t *testing.T) {
	if root, err := Root("0123456789abcdef-no-such-container"); err == nil {
		t.Errorf("found %s", root)
	}
}
