// Package atomicfile replaces files in one step: whoever opens one sees all of the old content or all of the new, also after
// a crash of the process or of the machine.
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

// abandonedAfter is the age of a file that a write has not finished and never will: its process has been killed.
const abandonedAfter = time.Hour

// Write puts content in the place of the file at path, whose folder must exist. mode is the new file's, whatever the umask and
// the old file say. When Write returns, the content will survive a crash of the machine.
func Write(path string, content []byte, mode fs.FileMode) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace is Write for content that write produces. If that fails, the old file stays.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	removeAbandoned(path)
	out, err := beside(path)
	if err != nil {
		return err
	}
	err = write(out)
	if err == nil {
		err = out.Chmod(mode)
	}
	if err == nil {
		err = out.Sync() // before the name: else a crash may leave an empty file
	}
	err = errors.Join(err, out.Close())
	if err == nil {
		err = os.Rename(out.Name(), path)
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return writeError(path, out.Name(), err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return writeError(path, out.Name(), err)
	}
	return nil
}

// Check reports whether a file can be put at path, and leaves what is there as it is.
func Check(path string) error {
	probe, err := beside(path)
	if err != nil {
		return err
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return writeError(path, probe.Name(), err)
	}
	return nil
}

// beside makes an empty file in the folder of path, which only its owner can read.
func beside(path string) (*os.File, error) {
	out, err := os.CreateTemp(filepath.Dir(path), prefix(path)+"*")
	if err != nil {
		return nil, writeError(path, "", err)
	}
	return out, nil
}

// prefix is what the names of unfinished files for path begin with.
func prefix(path string) string { return "." + filepath.Base(path) + ".hone-new-" }

// removeAbandoned removes what killed processes have left of their writes to path. What cannot be removed costs space, nothing
// else.
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

// writeError says which file could not be written. It names the user's file in place of the unfinished one, of which nobody
// else knows.
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
