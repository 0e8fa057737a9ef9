//go:build unix

package rawfile

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// File is an open file. It is for use by one goroutine, which closes it.
type File struct {
	fd   int
	path string
}

// Open opens a file for reading. It follows no link at the end of the path, which is an error (ELOOP), and does not wait for the other end
// of a pipe.
func Open(path string) (File, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return File{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return File{fd, path}, nil
}

// Read implements io.Reader.
func (f File) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = again(func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Stat reads everything that the system knows about the file now.
func (f File) Stat(st *unix.Stat_t) error {
	if err := again(func() error { return unix.Fstat(f.fd, st) }); err != nil {
		return &fs.PathError{Op: "fstat", Path: f.path, Err: err}
	}
	return nil
}

// Info describes the file as it is now.
func (f File) Info() (Info, error) {
	var st unix.Stat_t
	if err := f.Stat(&st); err != nil {
		return Info{}, err
	}
	mode := uint32(st.Mode) //nolint:unconvert // uint16 on macOS
	return Info{Regular: mode&unix.S_IFMT == unix.S_IFREG, Perm: fs.FileMode(mode) & fs.ModePerm, Size: st.Size, ModTime: st.Mtim.Nano()}, nil
}

// Close closes the file.
func (f File) Close() error {
	if err := unix.Close(f.fd); err != nil {
		return &fs.PathError{Op: "close", Path: f.path, Err: err}
	}
	return nil
}

func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
