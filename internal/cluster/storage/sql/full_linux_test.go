package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/sql/sqltest"
)

// smallDisk mounts a file system of a size, in MiB.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := shortDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0755", size)); err != nil {
		t.Skipf("needs to mount a file system (root can): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill fills the disk that a folder is on, and returns the file that does so.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 4<<10); err == nil; {
		_, err = file.Write(block)
	}
	return path
}

// fullDisk saves to a full disk, which must fail and change nothing, and again when there is room.
func fullDisk(t *testing.T, dir, url string) {
	a := open(t, url)
	was, err := a.Save(t.Context(), "full", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	filler := fill(t, dir)
	large := make([]byte, 3<<20)
	for i := range large {
		large[i] = byte(i * i >> 5)
	}
	_, err = a.Save(t.Context(), "full", large, was)
	t.Log(err)
	wantProblem(t, err, "disk")
	for _, s := range []*Storage{a, open(t, url)} {
		if doc, err := s.Load(t.Context(), "full"); err != nil || string(doc.Data) != "one" || doc.Version != was {
			t.Fatalf("%d bytes of version %q, %v; want %q", len(doc.Data), doc.Version, err, was)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	is, err := a.Save(t.Context(), "full", large, was)
	if err != nil {
		t.Fatal(err)
	}
	if doc, err := open(t, url).Load(t.Context(), "full"); err != nil || string(doc.Data) != string(large) || doc.Version != is {
		t.Fatalf("%d bytes of version %q, %v; want %q", len(doc.Data), doc.Version, err, is)
	}
}

func TestSQLiteFullDisk(t *testing.T) {
	dir := smallDisk(t, 12)
	fullDisk(t, dir, sqliteURL(filepath.Join(dir, "a.db")))
}

func TestPostgresFullDisk(t *testing.T) {
	dir := smallDisk(t, 160)
	s := newServer(t, dir)
	fullDisk(t, dir, overSocket(s, sqltest.Role))
}
