// Package folder is a storage in a folder of this machine: each document is a file, and its version is a digest of its content.
package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// lockSuffix ends the names of lock files. No document has such a name.
const lockSuffix = ".lock"

// Storage keeps documents as files of one folder, which several processes may share.
type Storage struct {
	dir string

	mu   sync.Mutex
	seen map[string]seen // guarded by mu
}

// seen is the file that had a version of a document.
type seen struct {
	version storage.Version
	info    fs.FileInfo
}

var _ storage.Local = (*Storage)(nil)

// New returns the storage in a folder. The first write creates the folder.
func New(dir string) *Storage { return &Storage{dir: dir, seen: map[string]seen{}} }

// Path implements storage.Local.
func (s *Storage) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// Unchanged implements storage.Local.
func (s *Storage) Unchanged(name string, was storage.Version) bool {
	info, err := os.Stat(s.Path(name))
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.seen[name]
	return known.info != nil && known.version == was && sameFile(known.info, info)
}

// sameFile reports whether nothing has written to a file, or replaced it.
func sameFile(was, is fs.FileInfo) bool {
	return os.SameFile(was, is) && is.ModTime().Equal(was.ModTime()) && is.Size() == was.Size()
}

// Load implements storage.Storage.
func (s *Storage) Load(ctx context.Context, name string) (storage.Document, error) {
	if err := begin(ctx, name); err != nil {
		return storage.Document{}, err
	}
	return s.read(name)
}

// Save implements storage.Storage.
func (s *Storage) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	return s.save(ctx, name, data, was, func(path string) error { return atomicfile.Write(path, data, 0o600) })
}

// SaveBrief implements storage.Local.
func (s *Storage) SaveBrief(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	return s.save(ctx, name, data, was, func(path string) error {
		unfinished := path + ".new" + lockSuffix // no document has this name, and the lock is held
		if err := os.WriteFile(unfinished, data, 0o600); err != nil {
			return err
		}
		return os.Rename(unfinished, path)
	})
}

// save writes a document with the given function if it has a version.
func (s *Storage) save(ctx context.Context, name string, data []byte, was storage.Version, write func(path string) error) (storage.Version, error) {
	if err := begin(ctx, name); err != nil {
		return storage.None, err
	}
	path := s.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storage.None, err
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return storage.None, err
	}
	defer unlock()
	if err := s.expect(name, was); err != nil {
		return storage.None, err
	}
	// Delete may have removed the subfolder before the lock was free.
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return storage.None, err
	}
	if err := write(path); err != nil {
		return storage.None, err
	}
	is := versionOf(data)
	if info, err := os.Stat(path); err == nil {
		s.remember(name, is, info)
	}
	return is, nil
}

// Delete implements storage.Storage.
func (s *Storage) Delete(ctx context.Context, name string, was storage.Version) error {
	if err := begin(ctx, name); err != nil {
		return err
	}
	path := s.Path(name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	is, err := s.read(name)
	switch {
	case errors.Is(err, storage.ErrMissing):
		return nil
	case err != nil:
		return err
	case is.Version != was:
		return storage.ErrStale
	}
	s.remember(name, storage.None, nil)
	if err := os.Remove(path); err != nil {
		return err
	}
	s.removeEmpty(filepath.Dir(path))
	return nil
}

// List implements storage.Storage.
func (s *Storage) List(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the storage has no document yet, or a subfolder lost its last one
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if e.IsDir() {
			return enter(name, prefix)
		}
		if e.Type().IsRegular() && strings.HasPrefix(name, prefix) && checkName(name) == nil {
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// enter skips a subfolder that has no documents with a prefix.
func enter(name, prefix string) error {
	dir := name + "/"
	if name == "." || strings.HasPrefix(dir, prefix) || strings.HasPrefix(prefix, dir) {
		return nil
	}
	return fs.SkipDir
}

// String implements storage.Storage.
func (s *Storage) String() string { return "file://" + filepath.ToSlash(s.dir) }

// Close implements storage.Storage.
func (s *Storage) Close() error { return nil }

// expect returns ErrStale if a document does not have a version. Its lock is held.
func (s *Storage) expect(name string, was storage.Version) error {
	if s.Unchanged(name, was) {
		return nil // without reading it
	}
	is, err := s.read(name)
	if err != nil && !errors.Is(err, storage.ErrMissing) {
		return err
	}
	if is.Version != was {
		return storage.ErrStale
	}
	return nil
}

func (s *Storage) read(name string) (storage.Document, error) {
	f, err := os.Open(s.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return storage.Document{}, storage.ErrMissing
	}
	if err != nil {
		return storage.Document{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return storage.Document{}, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return storage.Document{}, err
	}
	doc := storage.Document{Data: data, Version: versionOf(data)}
	s.remember(name, doc.Version, info)
	return doc, nil
}

// remember notes the file that has a version of a document.
func (s *Storage) remember(name string, is storage.Version, info fs.FileInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info == nil {
		delete(s.seen, name)
		return
	}
	s.seen[name] = seen{is, info}
}

// lock takes the lock of a document. A document of the folder itself has its lock beside it, where earlier versions of hone have the
// lock of a ledger. All documents of a subfolder share one, so that there are no more locks than ledgers.
func (s *Storage) lock(ctx context.Context, name string) (unlock func(), err error) {
	top, _, _ := strings.Cut(name, "/")
	return filelock.Lock(ctx, filepath.Join(s.dir, top+lockSuffix))
}

// removeEmpty removes subfolders that have no document left. The lock of the subfolder is held.
func (s *Storage) removeEmpty(dir string) {
	for dir != s.dir && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

func versionOf(data []byte) storage.Version {
	sum := sha256.Sum256(data)
	return storage.Version(hex.EncodeToString(sum[:16]))
}

func begin(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return checkName(name)
}

// checkName refuses the names of lock files, too.
func checkName(name string) error {
	if strings.HasSuffix(name, lockSuffix) || strings.Contains(name, lockSuffix+"/") {
		return fmt.Errorf("invalid name of a document: %q: names that end in %s belong to locks", name, lockSuffix)
	}
	return storage.CheckName(name)
}
