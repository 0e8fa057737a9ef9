package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/problem"
)

// File is where a snapshot is going to be written. Only its owner may read it, for logs are nobody else's business.
type File struct {
	path string
	// plain is set for what cannot be replaced, such as a terminal or a pipe, and is written to instead.
	plain bool
}

// Open checks that a file can be written at path, and replaced if there is one, without touching it.
func Open(path string) (*File, error) {
	mend := "name a file in a folder that you may write to"
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, problem.New(path+" is a folder", "name a file in it: "+filepath.Join(path, "snapshot.json"))
	case err == nil && !info.Mode().IsRegular():
		return &File{path, true}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, problem.Wrap(err, "the snapshot could not be written", mend)
	}
	f := &File{path: path}
	probe, err := f.beside()
	if err != nil {
		return nil, problem.Wrap(err, "the snapshot could not be written", mend)
	}
	return f, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// beside makes an empty file beside the one that it is going to replace.
func (f *File) beside() (*os.File, error) {
	return os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
}

// Path is where the file is, absolute.
func (f *File) Path() string { return f.path }

// Write writes the file: whoever opens it sees all of it, or what was there before.
func (f *File) Write(write func(io.Writer) error) error {
	if f.plain {
		out, err := os.OpenFile(f.path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("write the snapshot: %w", err)
		}
		if err := errors.Join(write(out), out.Close()); err != nil {
			return fmt.Errorf("write the snapshot to %s: %w", f.path, err)
		}
		return nil
	}
	out, err := f.beside()
	if err == nil {
		if err = errors.Join(write(out), out.Close()); err == nil {
			err = os.Rename(out.Name(), f.path)
		}
		if err != nil {
			_ = os.Remove(out.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("write the snapshot to %s: %w", f.path, err)
	}
	return nil
}
