package docker

import (
	"context"
	"errors"
	"io"
	gofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/tonistiigi/fsutil"
)

// gone are the files of a build context that were away when the engine was about to get them, as they are for a moment while
// another program replaces them. Safe for concurrent use.
type gone struct {
	mu    sync.Mutex
	paths map[string]bool
}

func (g *gone) note(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paths == nil {
		g.paths = map[string]bool{}
	}
	g.paths[path] = true
}

// back returns those that are there now, sorted. The engine has not got them, or has them empty, and if they came back with
// the content that they had, no watcher tells of it.
func (g *gone) back() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var back []string
	for path := range g.paths {
		if _, err := os.Lstat(path); err == nil {
			back = append(back, path)
		}
	}
	slices.Sort(back)
	return back
}

// steadyFS leaves out a file that goes away while its folder is walked, and that file only: fsutil leaves out all that come
// after it in the folder. It stands below all filters, which take an error about a file for one about its folder, too.
type steadyFS struct {
	fsutil.FS
	root string
	gone *gone
}

// Walk implements fsutil.FS.
func (s steadyFS) Walk(ctx context.Context, target string, fn gofs.WalkDirFunc) error {
	return s.FS.Walk(ctx, target, func(name string, entry gofs.DirEntry, err error) error {
		if err == nil && entry != nil && !entry.IsDir() {
			// The entry keeps what it finds out here, so that nothing above asks the file system again.
			if _, err := entry.Info(); isGone(err) {
				s.gone.note(filepath.Join(s.root, name))
				return nil
			}
		}
		return fn(name, entry, err)
	})
}

// Open implements fsutil.FS. Where it fails, the engine gets an empty file.
func (s steadyFS) Open(name string) (io.ReadCloser, error) {
	f, err := s.FS.Open(name)
	if isGone(err) {
		s.gone.note(filepath.Join(s.root, name))
	}
	return f, err
}

func isGone(err error) bool {
	return errors.Is(err, gofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
