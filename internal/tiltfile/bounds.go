package tiltfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// The bounds of what an evaluation takes in, so that what never ends is an error and not the end of the session's memory.
const (
	// mostFile bounds what is read of one file, mostSource the program in one, in bytes.
	mostFile   = 64 << 20
	mostSource = 8 << 20
	// mostOutput bounds what a command may write, standard output and standard error each, in bytes.
	mostOutput = 64 << 20
	// mostDigits bounds the numbers in texts: reading them takes time with the square of their length.
	mostDigits = 10_000
	// mostDepth and mostValues bound what is encoded, mostValues also what a function of Starlark goes through at once.
	mostDepth  = 1_000
	mostValues = 5_000_000
)

// size is a number of bytes for messages.
func size(n int) string { return fmt.Sprintf("%d MiB", n>>20) }

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

// errTooMuch says that a command wrote more than it may.
var errTooMuch = errors.New("it wrote more than " + size(mostOutput) + ", which is the most that a Tiltfile takes")

// bounded keeps what a command writes, and stops the command when it is too much.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom would go around the bound
	stop func(error)
}

// String is what was written.
func (b *bounded) String() string { return b.text.String() }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > mostOutput {
		b.stop(errTooMuch)
		return 0, errTooMuch
	}
	return b.text.Write(p)
}
