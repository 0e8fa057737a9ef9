package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// names are the names of all files in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteReplacesContentAndMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, mode := range []fs.FileMode{0o600, 0o666, 0o600} { // 0666: the umask does not matter
		content := fmt.Sprintf("mode %o", mode)
		if err := Write(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("the file holds %q (%v), want %q", got, err, content)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode && runtime.GOOS != "windows" {
			t.Errorf("the file has mode %04o, want %04o", info.Mode().Perm(), mode)
		}
	}
	if got := names(t, filepath.Dir(path)); !slices.Equal(got, []string{"file"}) {
		t.Errorf("files left: %q", got)
	}
}

func TestAFailureLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no more content")
	err := Replace(path, 0o600, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) || err.Error() != "write "+path+": no more content" {
		t.Errorf("the error is %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file holds %q", got)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("files left: %q", got)
	}
}

func TestErrorsNameTheUsersFile(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, do := range map[string]func(string) error{
		filepath.Join(dir, "missing", "file"):  func(path string) error { return Write(path, nil, 0o600) },
		filepath.Join(dir, "missing", "check"): Check,
		full:                                   func(path string) error { return Write(path, nil, 0o600) },
	} {
		err := do(path)
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != path || at.Op != "write" || strings.Contains(err.Error(), ".hone-new-") {
			t.Errorf("the error for %s is %v", path, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"full"}) {
		t.Errorf("files left: %q", got)
	}
}

func TestCheckLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := Check(path); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("files left: %q", got)
	}
}

// TestWhatACrashLeftIsRemoved keeps files that another process may still be writing, and files that hone did not make.
func TestWhatACrashLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	long := time.Now().Add(-2 * abandonedAfter)
	for name, at := range map[string]time.Time{
		".file.hone-new-1": long, ".file.hone-new-2": time.Now(), ".file.swp": long, ".other.hone-new-1": long,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{".file.hone-new-2", ".file.swp", ".other.hone-new-1", "file"}; !slices.Equal(got, want) {
		t.Errorf("files left: %q, want %q", got, want)
	}
}

func TestReadersSeeOneContentOrTheOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	contents := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<10)}
	if err := Write(path, []byte(contents[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, content := range contents {
		wg.Go(func() {
			for range 20 {
				if err := Write(path, []byte(content), 0o600); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 200 {
		if got, err := os.ReadFile(path); err != nil || !slices.Contains(contents, string(got)) {
			t.Fatalf("a reader saw %d bytes (%v)", len(got), err)
		}
	}
	wg.Wait()
}
