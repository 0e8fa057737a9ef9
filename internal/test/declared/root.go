//go:build linux

package declared

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/test/witness"
	"github.com/hone-dev/hone/internal/update/watch"
)

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
