package s3

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/s3/s3test"
)

// TestFullServer saves while the disk of the server is full. The document keeps its last version, and takes the next one when space is
// free again.
func TestFullServer(t *testing.T) {
	alone(t, s3test.User, s3test.Password)
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a file system of 4 MB needs root: %v, %s", err, out)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	server, err := s3test.Start(t.Context(), s3test.Programs[0], dir)
	if errors.Is(err, s3test.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	s := open(t, server.URL())
	v, err := s.Save(t.Context(), "doc", []byte("kept"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	large := bytes.Repeat([]byte("large"), 1<<16)
	if _, err := s.Save(t.Context(), "doc", large, v); err == nil || errors.Is(err, storage.ErrStale) {
		t.Errorf("Save on a full disk: %v", err)
	}
	doc, err := s.Load(t.Context(), "doc")
	if err != nil || string(doc.Data) != "kept" || doc.Version != v {
		t.Errorf("Load on a full disk: %.20q, version %s, %v", doc.Data, doc.Version, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), "doc", large, v); err != nil {
		t.Errorf("Save after space is free: %v", err)
	}
}
