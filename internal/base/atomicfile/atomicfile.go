// Package atomicfile replaces files in one step: a reader sees the whole old content or the whole new content, even after a
// crash of the process or of the machine.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// abandonedAfter is the age at which an unfinished file counts as left behind by a killed process.
const abandonedAfter = time.Hour

// Write replaces the file at path, whose folder must exist, with content. The new file has the given mode, regardless of the
// umask and of the old file's mode. When Write returns, the content survives a crash of the machine.
func Write(path string, content []byte, mode fs.FileMode) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteCache is Write for a file that can be made again: it does not wait for the disk, which takes milliseconds. After a crash of the
// machine, the file may be empty or have its old content.
func WriteCache(path string, content []byte, mode fs.FileMode) error {
	return replace(path, mode, false, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace is Write for content that the function write produces. If write fails, the old file stays.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return replace(path, mode, true, write)
}

// replace is Replace. If durable is false, it does not wait for the disk.
func replace(path string, mode fs.FileMode, durable bool, write func(io.Writer) error) error {
	removeAbandoned(path)
	out, err := begin(path)
	if err != nil {
		return err
	}
	err = write(out)
	if err == nil {
		err = out.Chmod(mode)
	}
	if err == nil && durable {
		err = out.Sync() // before the name: else a crash may leave an empty file
	}
	if err == nil && out.name == "" {
		err = out.giveName(path)
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = os.Rename(out.name, path)
	}
	if err != nil {
		_ = out.remove()
		return writeError(path, out.name, err)
	}
	if !durable {
		return nil
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return writeError(path, out.name, err)
	}
	return nil
}

// Check returns an error if the file at path cannot be replaced. It does not change an existing file.
func Check(path string) error {
	probe, err := begin(path)
	if err != nil {
		return err
	}
	if err := errors.Join(probe.Close(), probe.remove()); err != nil {
		return writeError(path, probe.name, err)
	}
	return nil
}

// unfinished is the new content of a file, in the folder of the file. Only its owner can read it.
type unfinished struct {
	*os.File
	// name is the name of the content before it replaces the file. It is empty where the system can create a file without a
	// name: then a process that is killed leaves nothing behind.
	name string
}

// begin creates an empty unfinished file for the file at path.
func begin(path string) (*unfinished, error) {
	if f := nameless(filepath.Dir(path)); f != nil {
		return &unfinished{File: f}, nil
	}
	return named(path)
}

func named(path string) (*unfinished, error) {
	out, err := os.CreateTemp(filepath.Dir(path), prefix(path)+"*")
	if err != nil {
		return nil, writeError(path, "", err)
	}
	return &unfinished{out, out.Name()}, nil
}

// remove removes the name, if there is one.
func (u *unfinished) remove() error {
	if u.name == "" {
		return nil
	}
	return os.Remove(u.name)
}

// prefix is the beginning of the names of unfinished files for path.
func prefix(path string) string { return "." + filepath.Base(path) + ".hone-new-" }

// removeAbandoned removes unfinished files for path that killed processes left behind. A file that cannot be removed only costs
// space.
func removeAbandoned(path string) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix(path)) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// writeError returns the error of a failed write. It names the user's file instead of the unfinished one, which means nothing to
// the user.
func writeError(path, temp string, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at) && (temp == "" || at.Path == temp):
		return &fs.PathError{Op: "write", Path: path, Err: at.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: path, Err: link.Err}
	}
	return fmt.Errorf("write %s: %w", path, err)
}
