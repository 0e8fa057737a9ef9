package folder

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// TestFullDisk saves until a small file system is full. The document keeps its last version, and the next save after space is free
// again succeeds.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a file system of 256 KB needs root: %v, %s", err, out)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s := New(filepath.Join(dir, "documents"))
	v, err := s.Save(t.Context(), "doc", []byte("kept"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	large := bytes.Repeat([]byte("large"), 1<<12)
	if _, err := s.Save(t.Context(), "doc", large, v); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("Save on a full disk: %v", err)
	}
	doc, err := s.Load(t.Context(), "doc")
	if err != nil || string(doc.Data) != "kept" || doc.Version != v {
		t.Errorf("Load on a full disk: %q, %v", doc.Data, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "doc", large, v); err != nil {
		t.Errorf("Save after space is free: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("unfinished files are left: %q, %v", left, err)
	}
}
