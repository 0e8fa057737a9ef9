package folder

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

func TestConformance(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on", "write")
	storagetest.Conformance(t, func(*testing.T) storage.Storage { return New(dir) })
}

// brief saves all documents with SaveBrief.
type brief struct{ *Storage }

func (b brief) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	return b.SaveBrief(ctx, name, data, was)
}

func TestConformanceOfBriefDocuments(t *testing.T) {
	dir := t.TempDir()
	storagetest.Conformance(t, func(*testing.T) storage.Storage { return brief{New(dir)} })
}

// TestForeignFiles keeps files that are no documents.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	foreign := []string{".doc.json.hone-new-1", "doc.json.lock", ".hidden/doc.json", "with space.json"}
	for _, name := range foreign {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("foreign"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(dir)
	for _, name := range []string{"doc.json", "doc.revisions/1"} {
		v, err := s.Save(t.Context(), name, []byte("mine"), storage.None)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.List(t.Context(), ""); err != nil || !slices.Equal(got, []string{name}) {
			t.Errorf("List = %q, %v", got, err)
		}
		if err := s.Delete(t.Context(), name, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range foreign {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(raw) != "foreign" {
			t.Errorf("%s holds %q, %v", name, raw, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "doc.revisions")); !os.IsNotExist(err) {
		t.Errorf("the empty folder of revisions is left: %v", err)
	}
	for _, name := range []string{"doc.json.lock", "a.lock/doc"} {
		if _, err := s.Save(t.Context(), name, nil, storage.None); err == nil {
			t.Errorf("Save accepts %s, the name of a lock", name)
		}
	}
}

func TestOnlyTheOwnerReads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := New(dir).Save(t.Context(), "a/b", nil, storage.None); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{"": 0o700, "a": 0o700, "a/b": 0o600, "a.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

// TestUnchanged writes the same content again, which makes a new file of the same version.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	mine, other := New(dir), New(dir)
	v, err := mine.Save(t.Context(), "doc", []byte("one"), storage.None)
	if err != nil || !mine.Unchanged("doc", v) {
		t.Fatalf("changed after Save: %v", err)
	}
	if other.Unchanged("doc", v) {
		t.Error("a handle that has not seen the document calls it unchanged")
	}
	if _, err := other.Load(t.Context(), "doc"); err != nil || !other.Unchanged("doc", v) {
		t.Errorf("changed after Load: %v", err)
	}
	later, err := other.Save(t.Context(), "doc", []byte("two"), v)
	if err != nil || mine.Unchanged("doc", v) || mine.Unchanged("doc", later) {
		t.Errorf("unchanged after another Save: %v", err)
	}
	if err := mine.Delete(t.Context(), "doc", later); err != nil || other.Unchanged("doc", later) {
		t.Errorf("unchanged after Delete: %v", err)
	}
}
