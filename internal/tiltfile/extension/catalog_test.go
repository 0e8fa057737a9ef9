package extension

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCatalogOfEmbedded(t *testing.T) {
	c := Catalog{&Store{Dir: t.TempDir()}}
	for _, name := range c.Names() {
		at := Location{Name: name, Embedded: name}
		path, text, err := c.Find(at)
		if err != nil || path != "" || text == "" {
			t.Errorf("%s: %q, %d bytes, %v", name, path, len(text), err)
		}
		file, err := c.Unpack(at)
		if err != nil || !c.Unpacked(file) {
			t.Errorf("%s: unpacked to %q, %v", name, file, err)
			continue
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%s: the file differs: %v", name, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o222 != 0 {
			t.Errorf("%s: the file can be changed: %v, %v", name, info, err)
		}
	}
	if _, _, err := c.Find(Location{Embedded: "gone"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found: %v, want fs.ErrNotExist", err)
	}
	for _, at := range []Location{{Embedded: "gone"}, {Repo: Public, Path: "color"}} {
		if _, err := c.Unpack(at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("unpacked %+v: %v, want fs.ErrNotExist", at, err)
		}
	}
	if c.Unpacked(filepath.Join(c.Store.Dir, "repos", "x", Entry)) || c.Unpacked("") {
		t.Error("foreign files count as unpacked")
	}
}

// TestCatalogFetchesNothing looks for an extension before and after something else fetched its repository.
func TestCatalogFetchesNothing(t *testing.T) {
	u := newUpstream(t)
	c := Catalog{u.store}
	at := Location{Name: "a", Repo: u.repo, Path: "a"}
	if _, _, err := c.Find(at); !errors.Is(err, fs.ErrNotExist) || u.fetches.Load() != 0 {
		t.Errorf("before the fetch: %v, %d fetches", err, u.fetches.Load())
	}
	copied := u.checkout(u.repo)
	if path, _, err := c.Find(at); err != nil || path != filepath.Join(copied.Dir, "a", Entry) {
		t.Errorf("after the fetch: %q, %v", path, err)
	}
	at.Path = "gone"
	if _, _, err := c.Find(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	at = Location{Name: "a", Repo: Repo{Name: "own", URL: "file://" + u.dir}, Path: "a"}
	if path, _, err := c.Find(at); err != nil || path != filepath.Join(u.dir, "a", Entry) {
		t.Errorf("in a folder: %q, %v", path, err)
	}
}
