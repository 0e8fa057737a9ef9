//go:build !unix

package watch

import (
	"io/fs"
	"os"
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
func fstat(f *os.File) (stat, error) {
	fi, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return fromInfo(fi), nil
}

// openFile opens a file for reading.
func openFile(path string) (*os.File, error) { return os.Open(path) }

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
