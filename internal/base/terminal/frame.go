package terminal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Kind is the kind of a frame.
type Kind byte

// The kinds of frames.
const (
	Hello Kind = 'h'
	Text  Kind = 't'
	Size  Kind = 's'
	Open  Kind = 'o'
	Edit  Kind = 'd'
	Page  Kind = 'p'
	Rest  Kind = 'z'
	Shell Kind = 'x'
	Done  Kind = 'r'
	End   Kind = 'e'
	// Command asks for a command of the user's own. Output and Ended answer it.
	Command Kind = 'c'
	Output  Kind = 'u'
	Ended   Kind = 'n'
)

// Protocol is the name of the protocol in the Upgrade header.
const Protocol = "hone-terminal"

const (
	headerSize = 3
	// lineSize is the size of the line number in a frame of kind Edit.
	lineSize = 4
	// maxContent is the largest size of a frame's content in bytes.
	maxContent = 1<<16 - 1
)

// Frame is one message. Content is valid until the next one is read.
type Frame struct {
	Kind    Kind
	Content []byte
}

// reader reads frames into one buffer. After an error of in that passes, such as a deadline, it continues in the same
// frame.
type reader struct {
	in     io.Reader
	buffer []byte // of the frame that is read
	have   int    // bytes of it
}

// next returns the next frame, or io.EOF if the stream ends between two frames.
func (r *reader) next() (Frame, error) {
	if err := r.fill(headerSize); err != nil {
		if r.have == 0 {
			return Frame{}, err
		}
		return Frame{}, noEOF(err)
	}
	f := Frame{Kind: Kind(r.buffer[0])}
	n := int(binary.BigEndian.Uint16(r.buffer[1:]))
	wrong := func(what string) (Frame, error) {
		return Frame{}, fmt.Errorf("read a terminal's frame: %s of %d bytes", what, n)
	}
	switch f.Kind {
	case Hello, Text, Open, Page, Rest, Shell, Done, End:
	case Size:
		if n != 4 {
			return wrong("a size")
		}
	case Edit:
		if n < lineSize {
			return wrong("a place")
		}
	case Command, Output, Ended:
		if n < numberSize {
			return wrong("a command")
		}
	default:
		return Frame{}, fmt.Errorf("read a terminal's frame: unknown kind %#x", r.buffer[0])
	}
	if err := r.fill(headerSize + n); err != nil {
		return Frame{}, fmt.Errorf("read a terminal's frame: %w", noEOF(err))
	}
	f.Content = r.buffer[headerSize:r.have]
	r.have = 0
	return f, nil
}

// fill reads until the buffer holds n bytes of the frame.
func (r *reader) fill(n int) error {
	if len(r.buffer) < n {
		r.buffer = append(r.buffer, make([]byte, n-len(r.buffer))...)
	}
	for r.have < n {
		m, err := r.in.Read(r.buffer[r.have:n])
		if r.have += m; err != nil && r.have < n {
			return err
		}
	}
	return nil
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

// Place returns the file and the line, or 0 for none, in a frame of kind Edit or Page.
func (f Frame) Place() (path string, line int) {
	if f.Kind == Page {
		return string(f.Content), 0
	}
	return string(f.Content[lineSize:]), int(binary.BigEndian.Uint32(f.Content))
}

// Runs returns where a shell should run, in a frame of kind Shell; pod and container may be empty.
func (f Frame) Runs() (resource, pod, container string) {
	parts := append(strings.Split(string(f.Content), "\x00"), "", "", "")
	return parts[0], parts[1], parts[2]
}
