//go:build unix

package watch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/rawfile"
)

// lstat returns the stat of path itself, without following a symbolic link.
func lstat(path string) (stat, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Lstat(path, &st) })
	if err != nil {
		return stat{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return fromUnix(&st), nil
}

// follow returns the stat of path after following symbolic links.
func follow(path string) (stat, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Stat(path, &st) })
	if err != nil {
		return stat{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return fromUnix(&st), nil
}

// fstat returns the stat of an open file.
func fstat(f rawfile.File) (stat, error) {
	var st unix.Stat_t
	if err := f.Stat(&st); err != nil {
		return stat{}, err
	}
	return fromUnix(&st), nil
}

func again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func fromUnix(st *unix.Stat_t) stat {
	s := stat{
		dev: uint64(st.Dev), ino: uint64(st.Ino), links: uint64(st.Nlink), size: st.Size, //nolint:unconvert // the types differ between systems
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), perm: uint32(st.Mode) & 0o7777, //nolint:unconvert // uint16 on macOS
	}
	switch uint32(st.Mode) & unix.S_IFMT { //nolint:unconvert // uint16 on macOS
	case unix.S_IFREG:
		s.kind = kindFile
	case unix.S_IFDIR:
		s.kind = kindDir
	case unix.S_IFLNK:
		s.kind = kindLink
	}
	return s
}
