//go:build !unix

package watch

import (
	"io/fs"
	"os"

	"github.com/hone-dev/hone/internal/base/rawfile"
)

// lstat returns the stat of path itself, without following a symbolic link.
func lstat(path string) (stat, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return stat{}, err
	}
	return fromInfo(fi), nil
}

// follow returns the stat of path after following symbolic links.
func follow(path string) (stat, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return stat{}, err
	}
	return fromInfo(fi), nil
}

// fstat returns the stat of an open file.
func fstat(f rawfile.File) (stat, error) {
	fi, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return fromInfo(fi), nil
}

func fromInfo(fi fs.FileInfo) stat {
	s := stat{links: 1, size: fi.Size(), mtime: fi.ModTime().UnixNano(), perm: uint32(fi.Mode().Perm())}
	switch {
	case fi.Mode().IsRegular():
		s.kind = kindFile
	case fi.IsDir():
		s.kind = kindDir
	case fi.Mode()&fs.ModeSymlink != 0:
		s.kind = kindLink
	}
	return s
}
