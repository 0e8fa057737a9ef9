// Package rawfile reads files with as few system calls as possible. Package os also tries to wait for each file that it opens, which
// takes half of the time of a small one: of 20,000 files, a tenth of a second.
package rawfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// IsRegular reports whether there is a regular file with a path, or a link to one.
func IsRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Info describes an open file.
type Info struct {
	// Regular is false for a folder, a pipe, a device or a socket.
	Regular bool
	Perm    fs.FileMode
	// Size is in bytes. Some files of the system have more content than that.
	Size int64
	// ModTime is in nanoseconds since 1970.
	ModTime int64
}

// ReadAll reads the content of a file whose size is known from Info. Data written beyond that size meanwhile may be missing.
func (f File) ReadAll(size int64) ([]byte, error) {
	const spare = 512
	data := make([]byte, 0, size+spare)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF), err == nil && size > 0 && int64(len(data)) == size:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = slices.Grow(data, len(data))
		}
	}
}
