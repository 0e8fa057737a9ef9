//go:build unix

package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// InputReopens reports whether an input that was closed can be opened again, so that another program can read standard input
// in the meantime.
const InputReopens = true

// OpenInput returns an input whose Close ends a waiting Read. Files such as standard input do not do that themselves.
func OpenInput(r io.Reader) (io.ReadCloser, error) {
	f, ok := r.(*os.File)
	if !ok {
		return io.NopCloser(r), nil
	}
	wake, closed, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open standard input: %w", err)
	}
	return &input{file: f, wake: wake, closed: closed}, nil
}

// input is a file that is read only when data is available. One goroutine reads, any may close.
type input struct {
	file *os.File
	// wake becomes readable when closed is closed.
	wake, closed *os.File
	once         sync.Once
}

var _ io.ReadCloser = (*input)(nil)

// Read waits for input or for Close, after which it returns io.ErrClosedPipe.
func (i *input) Read(p []byte) (int, error) {
	fds := []unix.PollFd{{Fd: int32(i.file.Fd()), Events: unix.POLLIN}, {Fd: int32(i.wake.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for input: %w", err)
		case fds[1].Revents != 0:
			return 0, io.ErrClosedPipe
		case fds[0].Revents != 0:
			return i.file.Read(p)
		}
	}
}

// Close makes Read return. The file itself stays open: it belongs to the process.
func (i *input) Close() error {
	i.once.Do(func() { _ = i.closed.Close() })
	return nil
}
