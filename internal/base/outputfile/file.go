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
	probe, err := f.beside()
	if err != nil {
		return nil, err
	}
	return f, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// beside makes an empty file beside the one that it is going to replace.
func (f *File) beside() (*os.File, error) {
	out, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = &fs.PathError{Op: "write", Path: f.path, Err: at.Err} // nobody knows the other file
	}
	return out, err
}

// Path is where the file is, absolute.
func (f *File) Path() string { return f.path }

// Write writes the file: whoever opens it sees all of it, or what was there before.
func (f *File) Write(write func(io.Writer) error) error {
	put := f.replace
	if f.plain {
		put = f.fill
	}
	if err := put(write); err != nil {
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

// replace puts a new file in the place of what is there.
func (f *File) replace(write func(io.Writer) error) error {
	out, err := f.beside()
	if err != nil {
		return err
	}
	if err = errors.Join(write(out), out.Chmod(f.mode), out.Close()); err == nil {
		err = os.Rename(out.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return err
}
