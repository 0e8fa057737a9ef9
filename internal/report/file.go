package report

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/problem"
)

// File is where a report will be written at the end.
type File struct{ path string }

// NewFile returns the file at a path after checking that it can be written there. What is there already stays until then.
func NewFile(path string) (*File, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		var tmp *os.File
		if tmp, err = beside(abs); err == nil {
			_ = tmp.Close()
			err = os.Remove(tmp.Name())
		}
	}
	if err != nil {
		return nil, problem.Wrap(err, "cannot write "+path, "name a file in a folder that exists and that you may write to")
	}
	return &File{abs}, nil
}

// beside creates the file that is to take the place of path.
func beside(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &os.PathError{Op: "write", Path: path, Err: fmt.Errorf("is a folder")}
	}
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
}

// Write writes the whole file: whoever looks finds either what was there before or all of the new content.
func (f *File) Write(content []byte) error {
	tmp, err := beside(f.path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err = tmp.Write(content)
	if e := tmp.Chmod(0o644); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
