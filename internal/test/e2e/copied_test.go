package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/test/witness"
	"github.com/hone-dev/hone/internal/update/watch"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// hasFiles compares the synced files of this machine with those of the containers that hone says it updates in place. A file that
// a container does not have must have been there before the session, since an image need not include it; files that the test wrote
// and deleted must not be there.
func (p *project) hasFiles(r api.Resource, since time.Time, k known) error {
	var errs []error
	for _, live := range k.lives[r.Name] {
		files, err := p.synced(live, k)
		if err != nil {
			return err
		}
		for _, f := range r.PendingFiles {
			delete(files, f)
		}
		for _, c := range live.Status.Containers {
			root, err := openRoot(c.ContainerID)
			if err != nil {
				return err
			}
			for _, local := range slices.Sorted(maps.Keys(files)) {
				if err := root.has(files[local], local, since); err != nil {
					errs = append(errs, fmt.Errorf("container %s of %s: %w", c.ContainerName, c.PodName, err))
				}
			}
			errs = append(errs, root.Close())
		}
	}
	return errors.Join(errs...)
}

// synced returns, by its path on this machine, where in the containers of a live update each synced file belongs that exists, or that
// the test has written.
func (p *project) synced(live v1alpha1.LiveUpdate, k known) (map[string]string, error) {
	watched := k.watches[live.Spec.Sources[0].FileWatch]
	var ignores []model.Ignore
	for _, i := range slices.Concat(watched.Spec.Ignores, k.watches["configs:(Tiltfile)"].Spec.Ignores) {
		ignores = append(ignores, model.Ignore{Base: i.BasePath, Patterns: i.Patterns})
	}
	for _, dir := range watched.Spec.WatchedPaths {
		ignores = append(ignores, model.Ignore{Base: dir, Patterns: watch.Ephemeral})
	}
	ignored, err := watch.NewMatcher(ignores)
	if err != nil {
		return nil, err
	}
	below := func(file string) func(dir string) bool {
		return func(dir string) bool { return dir == file || model.IsChild(dir, file) }
	}
	files := map[string]string{}
	for _, s := range slices.Backward(live.Spec.Syncs) { // the first that covers a file wins
		add := func(file string) {
			if ignored.Matches(file) || !slices.ContainsFunc(watched.Spec.WatchedPaths, below(file)) {
				return
			}
			files[file] = path.Join(s.ContainerPath, filepath.ToSlash(strings.TrimPrefix(file, s.LocalPath)))
			if file == s.LocalPath && strings.HasSuffix(s.ContainerPath, "/") {
				files[file] = path.Join(s.ContainerPath, filepath.Base(file))
			}
		}
		for file := range p.written {
			if below(file)(s.LocalPath) {
				add(file)
			}
		}
		err := filepath.WalkDir(s.LocalPath, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				add(file)
			}
			return nil // what is gone by now is no file
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// root is the file system of a container, which is read without its help.
type root struct{ *os.File }

func openRoot(id string) (root, error) {
	dir, err := witness.Root(id)
	if err != nil {
		return root{}, err
	}
	f, err := os.Open(dir)
	return root{f}, err
}

// open opens a path as a process in the container would.
func (r root) open(path string, flags uint64) (*os.File, error) {
	fd, err := unix.Openat2(int(r.Fd()), path, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// has reports how a path in the container differs from a path of this machine.
func (r root) has(remote, local string, since time.Time) error {
	here, errHere := kindOf(os.Open(filepath.Dir(local)))(filepath.Base(local))
	there, errThere := kindOf(r.open(path.Dir(remote), unix.O_RDONLY|unix.O_DIRECTORY))(path.Base(remote))
	gone, missing := isGone(errHere), isGone(errThere)
	switch {
	case gone && missing, missing && !watch.ChangedAt(local).After(since):
		return nil
	case gone:
		return fmt.Errorf("%s is still there", remote)
	case missing:
		return fmt.Errorf("%s is not there", remote)
	case errHere != nil || errThere != nil:
		return errors.Join(errHere, errThere)
	case !bytes.Equal(here, there):
		return fmt.Errorf("%s is %.200q, not %.200q", remote, there, here)
	}
	return nil
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

// kindOf returns a function that describes an entry of a folder: the content of a file, or where a link leads.
func kindOf(dir *os.File, err error) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		buf := make([]byte, unix.PathMax)
		if n, err := unix.Readlinkat(int(dir.Fd()), name, buf); err == nil {
			return append([]byte("link to "), buf[:n]...), nil
		}
		fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return []byte("a folder"), err
		}
		return io.ReadAll(f)
	}
}
