// Package outputfile writes the output files of commands: a file is checked before the work begins, and written as a
// whole when the work has ended.
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

// ErrFolder means that the path of the file is a folder.
var ErrFolder = errors.New("is a folder")

// File is a file that will be written.
type File struct {
	path string
	mode fs.FileMode
	// plain is set for files that cannot be replaced, such as a terminal or a pipe. They are written directly.
	plain bool
}

// Open checks that a file can be created or replaced at path, without touching it. mode is the mode of the new file.
// The error is an *fs.PathError.
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

// Path returns the absolute path of the file.
func (f *File) Path() string { return f.path }

// Write writes the file. Readers see either the whole new content or the former one.
func (f *File) Write(write func(io.Writer) error) error {
	if !f.plain {
		return atomicfile.Replace(f.path, f.mode, write)
	}
	if err := f.fill(write); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// fill writes to an existing file.
func (f *File) fill(write func(io.Writer) error) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}
