package tiltfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.starlark.net/starlark"
)

// The bounds of what is read of one file, and of the program in one, in bytes: what never ends is an error and not the end
// of the session's memory.
const (
	mostFile   = 64 << 20
	mostSource = 8 << 20
)

// contents reads a file for a builtin; with a default a missing file is no error and found is false.
func (e *evaluation) contents(path string, fallback starlark.Value) (content string, found bool, err error) {
	data, err := e.readFile(e.abs(path))
	switch {
	case err == nil:
		e.learned(string(data))
		return string(data), true, nil
	case errors.Is(err, fs.ErrNotExist) && fallback != nil:
		return "", false, nil
	}
	return "", false, e.unreadable(path, err)
}

// unreadable explains why a file could not be read, with the path as the Tiltfile wrote it.
func (e *evaluation) unreadable(path string, err error) error {
	switch full := e.abs(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s%s", full, e.sibling(full))
	case isDir(full):
		return fmt.Errorf("%s is a folder, not a file", full)
	}
	return err
}

// sibling suggests the file in the same folder that was probably meant.
func (e *evaluation) sibling(full string) string {
	entries, err := os.ReadDir(filepath.Dir(full))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return didYouMean(filepath.Base(full), names)
}

// readBounded reads a regular file that is not larger than the bound. Others, such as pipes and devices, may never end.
func readBounded(path string, most int) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %s, not a regular file: reading it might never end", path, fileKind(info.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), int64(most)) + bytes.MinRead))
	n, err := b.ReadFrom(io.LimitReader(f, int64(most)+1))
	if err == nil && n > int64(most) {
		err = fmt.Errorf("%s is larger than %s, which is the most that a Tiltfile may read of one file", path, size(most))
	}
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func fileKind(m os.FileMode) string {
	switch {
	case m&os.ModeNamedPipe != 0:
		return "a named pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// size is a number of bytes for messages.
func size(n int) string { return fmt.Sprintf("%d MiB", n>>20) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
