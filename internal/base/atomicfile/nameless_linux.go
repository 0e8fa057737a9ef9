package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// nameless creates a file in a folder that has no name, nil where the file system cannot do that.
func nameless(dir string) *os.File {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), dir)
}

// giveName gives the complete content a name, just before it replaces the file. Where that is impossible, it copies the
// content.
func (u *unfinished) giveName(path string) error {
	for {
		name := filepath.Join(filepath.Dir(path), prefix(path)+fmt.Sprint(rand.Uint32()))
		err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", u.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		if err == nil {
			u.name = name
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return u.copyTo(path)
		}
	}
}

func (u *unfinished) copyTo(path string) error {
	info, err := u.Stat()
	if err != nil {
		return err
	}
	out, err := named(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(u, 0, info.Size()))
	err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Sync(), u.Close())
	*u = *out
	return err
}
