// Package outputfile is where a command writes what the user has asked for: a file that is looked at before the work
// begins, and written whole when it has ended.
package outputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/base/atomicfile"
)

// ErrFolder says that there is a folder in the place of the file.
var ErrFolder = errors.New("is a folder")

// File is a file that is going to be written.
type File struct {
	path string
	mode fs.FileMode
	// plain is set for what cannot be replaced, such as a terminal or a pipe, and is written to instead.
	plain bool
}

// Open checks that a file can be written at path, and replaced if there is one, without touching it. mode says who may read
// it. The error is an *fs.PathError.
func Open(path string, mode fs.FileMode) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &fs.PathError{Op: "find", Path: path, Err: err}
	}
	f := &File{path: abs, mode: mode}
	info, err := os.Stat(abs)
	switch {
	case err == nil && info.IsDir():
		return nil, &fs.PathError{Op: "write", Path: abs, Err: ErrFolder}
	case err == nil && !info.Mode().IsRegular():
		f.plain = true
		return f, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := atomicfile.Check(abs); err != nil {
		return nil, err
	}
	return f, nil
}

// Path is where the file is, absolute.
func (f *File) Path() string { return f.path }

// Write writes the file: whoever opens it sees all of it, or what was there before.
func (f *File) Write(write func(io.Writer) error) error {
	if !f.plain {
		return atomicfile.Replace(f.path, f.mode, write)
	}
	if err := f.fill(write); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// fill writes to what is there.
func (f *File) fill(write func(io.Writer) error) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}
