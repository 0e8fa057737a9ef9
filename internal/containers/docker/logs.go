package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// ContainerLogs implements Client.
func (e *Engine) ContainerLogs(ctx context.Context, containerID string, since time.Time, follow bool) (io.ReadCloser, error) {
	op := "read the log of container " + short(containerID)
	c, err := e.api.ContainerInspect(ctx, containerID)
	if err != nil {
		return nil, e.wrap(op, err)
	}
	o := container.LogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: follow}
	if !since.IsZero() {
		o.Since = since.Format(time.RFC3339Nano)
	}
	body, err := e.api.ContainerLogs(ctx, containerID, o)
	if err != nil {
		return nil, e.wrap(op, err)
	}
	if c.Config != nil && c.Config.Tty {
		return body, nil // a terminal has one stream
	}
	return &logLines{body: body, r: bufio.NewReaderSize(body, 32<<10)}, nil
}

const (
	frameHeader = 8
	// maxFrame bounds the size of a frame in bytes. The engine cuts lines into pieces of 16 KiB.
	maxFrame = 16 << 20
)

// logLines turns the engine's frames into whole lines. Each frame is a piece of a line of one of two streams. Except
// for Close, only one goroutine at a time may use it.
type logLines struct {
	body io.ReadCloser
	r    *bufio.Reader
	// open holds, by stream, a line whose end has not arrived; whole holds the complete lines to read.
	open  [3][]byte
	whole bytes.Buffer
	err   error
}

// Read implements io.Reader.
func (l *logLines) Read(p []byte) (int, error) {
	for l.whole.Len() == 0 {
		if l.err != nil {
			return 0, l.err
		}
		if l.err = l.frame(); errors.Is(l.err, io.EOF) {
			for _, line := range l.open { // a last line without an end
				l.whole.Write(line)
			}
		}
	}
	return l.whole.Read(p)
}

// Close implements io.Closer.
func (l *logLines) Close() error { return l.body.Close() }

// frame reads one frame.
func (l *logLines) frame() error {
	var head [frameHeader]byte
	if _, err := io.ReadFull(l.r, head[:]); err != nil {
		return err
	}
	stream, size := head[0], binary.BigEndian.Uint32(head[4:])
	if size > maxFrame || int(stream) >= len(l.open) && stream != byte(stdcopy.Systemerr) {
		return fmt.Errorf("read a container's log: a frame of stream %d with %d bytes", stream, size)
	}
	piece := make([]byte, size)
	if _, err := io.ReadFull(l.r, piece); err != nil {
		if errors.Is(err, io.EOF) { // only an end between frames is the end of the log
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("read a container's log: %w", err)
	}
	if stream == byte(stdcopy.Systemerr) {
		return fmt.Errorf("read a container's log: %s", bytes.TrimSpace(piece))
	}
	if line := l.open[stream]; len(line) > 0 {
		// Each piece starts with a time, but a line needs only one.
		if _, text, ok := bytes.Cut(piece, []byte{' '}); ok {
			piece = text
		}
		piece = append(line, piece...)
	}
	if bytes.HasSuffix(piece, []byte{'\n'}) {
		l.open[stream] = nil
		l.whole.Write(piece)
	} else {
		l.open[stream] = piece
	}
	return nil
}
