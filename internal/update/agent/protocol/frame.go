package protocol

import (
	"errors"
	"hash/crc32"
	"io"
)

const (
	// Version of the protocol. Both sides must speak the same version.
	Version = 1
	// Preamble is what the synclet writes first.
	Preamble = "\x00HONE-SYNCLET\x01\n"
	// MaxPayload bounds the payload of a frame, in bytes.
	MaxPayload = 1 << 20
	// MaxData bounds the content that one Put or Data carries, in bytes.
	MaxData = 256 << 10

	headerSize = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The ways in which a frame can be wrong.
var (
	ErrChecksum = errors.New("the checksum of a frame is wrong")
	ErrTooLong  = errors.New("a frame is too long")
	ErrVersion  = errors.New("a frame is of another version of the protocol")
)

// Writer writes frames. It is for use by one goroutine at a time.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter returns a writer of frames to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Append adds a message to the buffer that Flush writes.
func (w *Writer) Append(m Message) {
	at := len(w.buf)
	w.buf = append(w.buf, make([]byte, headerSize)...)
	e := encoder{w.buf}
	m.encode(&e)
	w.buf = e.b
	head, payload := w.buf[at:at+headerSize], w.buf[at+headerSize:]
	putUint32(head, uint32(len(payload)))
	head[4], head[5] = byte(m.kind()), Version
	sum := crc32.Update(crc32.Checksum(head[:8], castagnoli), castagnoli, payload)
	putUint32(head[8:], sum)
}

// Buffered returns how many bytes wait for Flush.
func (w *Writer) Buffered() int { return len(w.buf) }

// Flush writes everything with one call of the underlying writer, so that related messages travel together.
func (w *Writer) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.w.Write(w.buf)
	if cap(w.buf) > 4*MaxPayload {
		w.buf = nil // a big update is over; its memory is wanted elsewhere
	}
	w.buf = w.buf[:0]
	return err
}

// Reader reads frames. It is for use by one goroutine at a time.
type Reader struct {
	r    io.Reader
	head [headerSize]byte
	buf  []byte
}

// NewReader returns a reader of frames from r, which should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next returns the next message. The byte strings in it are valid until the following call. At the end of the stream the
// error is io.EOF, within a frame io.ErrUnexpectedEOF.
func (r *Reader) Next() (Message, error) {
	if _, err := io.ReadFull(r.r, r.head[:]); err != nil {
		return nil, err
	}
	n := getUint32(r.head[:])
	switch {
	case r.head[5] != Version:
		return nil, ErrVersion
	case n > MaxPayload:
		return nil, ErrTooLong
	}
	if uint32(cap(r.buf)) < n {
		r.buf = make([]byte, n)
	}
	payload := r.buf[:n]
	if _, err := io.ReadFull(r.r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	sum := crc32.Update(crc32.Checksum(r.head[:8], castagnoli), castagnoli, payload)
	if getUint32(r.head[8:]) != sum {
		return nil, ErrChecksum
	}
	return decode(kind(r.head[4]), payload)
}
