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

// gone records the files of a build context that were missing when the engine fetched them. A file can be missing for a
// moment while another program replaces it. It is safe for concurrent use.
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

// back returns the recorded files that exist now, sorted. The engine has not received them, or only as empty files. If
// they came back with their former content, no watcher reports them.
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

// steadyFS skips only the file itself if a file disappears while its folder is walked: fsutil also skips the files
// after it in the folder. It must be below all filters, because they treat an error about a file as one about its
// folder.
type steadyFS struct {
	fsutil.FS
	root string
	gone *gone
}

// Walk implements fsutil.FS.
func (s steadyFS) Walk(ctx context.Context, target string, fn gofs.WalkDirFunc) error {
	return s.FS.Walk(ctx, target, func(name string, entry gofs.DirEntry, err error) error {
		if err == nil && entry != nil && !entry.IsDir() {
			// The entry caches the result, so that the filters above do not query the file system again.
			if _, err := entry.Info(); isGone(err) {
				s.gone.note(filepath.Join(s.root, name))
				return nil
			}
		}
		return fn(name, entry, err)
	})
}

// Open implements fsutil.FS. If it fails, the engine gets an empty file.
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
