// Package file reads the files that Tiltfiles name, within bounds.
package file

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// The most that is read from one file, and from one source file, in bytes: endless input is an error instead of
// exhausting the session's memory.
const (
	Most       = 64 << 20
	MostSource = 8 << 20
)

// Read reads a regular file of at most most bytes. It refuses other files, such as pipes and devices, which may never
// end.
func Read(path string, most int) ([]byte, error) {
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

// fileKind names the kind of a file that is neither regular nor a folder.
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

// size formats a number of bytes for messages.
func size(n int) string { return fmt.Sprintf("%d MiB", n>>20) }

// IsDir reports whether there is a folder at a path.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Exists reports whether there is something other than a folder at a path.
func Exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
