package outputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// holds checks that a folder has one file, or none if content is empty.
func holds(t *testing.T, path, content string) {
	t.Helper()
	var want, got []string
	if content != "" {
		want = []string{filepath.Base(path) + ": " + content}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Name()+": "+string(b))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestWrite keeps the old file until the new content is complete.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	errBroken := errors.New("broken")
	f, err := Open(path, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, path, "")
	if err := f.Write(text("one")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "one")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(path, 0o640); err != nil || f.Path() != path {
		t.Fatal(f.Path(), err)
	}
	holds(t, path, "one")
	err = f.Write(func(w io.Writer) error {
		if err := text("half of tw")(w); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "one" {
			t.Errorf("%q, %v: what was there is gone before the new one is there", b, err)
		}
		return errBroken
	})
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
	holds(t, path, "one")
	if err := f.Write(text("two")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "two")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("three")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("written into a folder that is gone: %v", err)
	}
}

// TestLink replaces the target of a link, not the link.
func TestLink(t *testing.T) {
	path, link := filepath.Join(t.TempDir(), "x"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(path, []byte("one"), 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	f, err := Open(link, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("two")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "two")
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("%q, %v", to, err)
	}
}

// TestPlain writes to a file that cannot be replaced.
func TestPlain(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Open(fmt.Sprintf("/dev/fd/%d", w.Fd()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(text("into the pipe")), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "into the pipe" {
		t.Errorf("%q, %v", got, err)
	}
	if f, err = Open(os.DevNull, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("into nothing")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestRefused checks that Open reports files that cannot be written.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for bad, folder := range map[string]bool{filepath.Dir(path): true, filepath.Join(filepath.Dir(path), "none", "x"): false, filepath.Join(path, "x"): false} {
		_, err := Open(bad, 0o600)
		if at := (*fs.PathError)(nil); !errors.As(err, &at) || at.Path != bad || errors.Is(err, ErrFolder) != folder {
			t.Errorf("%s: %v", bad, err)
		}
	}
	holds(t, path, "one")
}
