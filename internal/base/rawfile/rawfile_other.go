//go:build !unix

package rawfile

import (
	"errors"
	"io/fs"
	"os"
)

var errLink = errors.New("it is a symbolic link")

// File is an open file. It is for use by one goroutine, which closes it.
type File struct{ *os.File }

// Open opens a file for reading. It follows no link at the end of the path, which is an error.
func Open(path string) (File, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = &fs.PathError{Op: "open", Path: path, Err: errLink}
	}
	if err != nil {
		return File{}, err
	}
	f, err := os.Open(path)
	return File{f}, err
}

// Info describes the file as it is now.
func (f File) Info() (Info, error) {
	fi, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return Info{Regular: fi.Mode().IsRegular(), Perm: fi.Mode().Perm(), Size: fi.Size(), ModTime: fi.ModTime().UnixNano()}, nil
}
