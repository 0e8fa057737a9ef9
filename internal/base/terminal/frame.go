package terminal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is the kind of a frame.
type Kind byte

// The kinds of frames.
const (
	Hello Kind = 'h'
	Text  Kind = 't'
	Size  Kind = 's'
	Open  Kind = 'o'
	End   Kind = 'e'
)

// Protocol is the name of the protocol in the Upgrade header.
const Protocol = "hone-terminal"

const (
	headerSize = 3
	// maxContent is the largest size of a frame's content in bytes.
	maxContent = 1<<16 - 1
)

// Frame is one message. Content is valid until the next one is read.
type Frame struct {
	Kind    Kind
	Content []byte
}

// reader reads frames into one buffer.
type reader struct {
	in     io.Reader
	buffer []byte
}

// next returns the next frame, or io.EOF if the stream ends between two frames.
func (r *reader) next() (Frame, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r.in, header[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: Kind(header[0])}
	switch f.Kind {
	case Hello, Text, Size, Open, End:
	default:
		return Frame{}, fmt.Errorf("read a terminal's frame: unknown kind %#x", header[0])
	}
	n := int(binary.BigEndian.Uint16(header[1:]))
	if f.Kind == Size && n != 4 {
		return Frame{}, fmt.Errorf("read a terminal's frame: a size of %d bytes", n)
	}
	if cap(r.buffer) < n {
		r.buffer = make([]byte, n)
	}
	f.Content = r.buffer[:n]
	if _, err := io.ReadFull(r.in, f.Content); err != nil {
		return Frame{}, fmt.Errorf("read a terminal's frame: %w", noEOF(err))
	}
	return f, nil
}

// noEOF distinguishes an end within a frame from one between two frames.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendFrame adds a frame to b. The content must not be too long.
func appendFrame(b []byte, k Kind, content []byte) []byte {
	b = append(b, byte(k))
	b = binary.BigEndian.AppendUint16(b, uint16(len(content)))
	return append(b, content...)
}

// size returns the size in a frame of kind Size.
func (f Frame) size() (columns, rows int) {
	return int(binary.BigEndian.Uint16(f.Content)), int(binary.BigEndian.Uint16(f.Content[2:]))
}
