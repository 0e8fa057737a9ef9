//go:build unix

package rawfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, n := range []int{0, 1, 511, 512, 513, 100_000} {
		want := strings.Repeat("x", n)
		if err := os.WriteFile(path, []byte(want), 0o640); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000, 123_000_000)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Info()
		if err != nil || !info.Regular || info.Size != int64(n) || info.ModTime != at.UnixNano() || info.Perm != 0o640 {
			t.Errorf("%d bytes: %+v, %v", n, info, err)
		}
		for _, known := range []int64{info.Size, 0, 3} { // also an outdated one
			if known > info.Size {
				continue
			}
			g, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.ReadAll(known)
			if err != nil || !strings.HasPrefix(want, string(got)) || len(got) < int(known) || known != 3 && len(got) != n {
				t.Errorf("%d bytes, known to be %d: %d read, %v", n, known, len(got), err)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if f, err := Open(dir); err == nil {
		if info, err := f.Info(); err != nil || info.Regular {
			t.Errorf("a folder: %+v, %v", info, err)
		}
		if _, err := f.ReadAll(1); err == nil {
			t.Error("a folder can be read")
		}
		_ = f.Close()
	} else {
		t.Error(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link: %v", err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(pipe) // at once: the pipe has no writer
	if err != nil {
		t.Fatal(err)
	}
	if info, err := f.Info(); err != nil || info.Regular {
		t.Errorf("a pipe: %+v, %v", info, err)
	}
	_ = f.Close()
}

// TestSystemFile reads a file whose size is said to be zero.
func TestSystemFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	f, err := Open("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.ReadAll(0); err != nil || !strings.Contains(string(got), "processor") {
		t.Errorf("%q, %v", got, err)
	}
}
