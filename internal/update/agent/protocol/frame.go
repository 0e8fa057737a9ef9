package protocol

import (
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
)

const (
	// Version of the protocol. Both sides must speak the same version.
	Version = 3
	// Preamble is the first thing that the synclet writes.
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
	ErrVersion  = errors.New("a frame has another version of the protocol")
)

// Writer writes frames. It is for use by one goroutine at a time.
type Writer struct {
	w   io.Writer
	buf []byte
	// Pack, if not nil, compresses the frames of a Flush: it returns them as the Data of Packed, or nil to send them as they are. The
	// result is used until the following call.
	Pack func(frames []byte) []byte
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
	if w.Pack != nil && len(w.buf) <= maxUnpacked {
		if packed := w.Pack(w.buf); packed != nil {
			w.buf = w.buf[:0]
			w.Append(&Packed{packed})
		}
	}
	_, err := w.w.Write(w.buf)
	if cap(w.buf) > 4*MaxPayload {
		w.buf = nil // a big update is over; its memory is wanted elsewhere
	}
	w.buf = w.buf[:0]
	return err
}

// maxUnpacked bounds the frames in a Packed, in bytes.
const maxUnpacked = 2 * MaxPayload

// Reader reads frames. It is for use by one goroutine at a time.
type Reader struct {
	r    io.Reader
	head [headerSize]byte
	buf  []byte
	// inner holds the frames of a Packed that have not been read yet; it is a part of unpacked.
	inner, unpacked []byte
	inflate         io.ReadCloser
}

// NewReader returns a reader of frames from r, which should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next returns the next message, also out of Packed. The byte strings in it are valid until the following call. At the end of the
// stream the error is io.EOF, within a frame io.ErrUnexpectedEOF.
func (r *Reader) Next() (Message, error) {
	for {
		if len(r.inner) > 0 {
			return r.packed()
		}
		m, err := r.next()
		if err != nil {
			return nil, err
		}
		p, ok := m.(*Packed)
		if !ok {
			return m, nil
		}
		if err := r.unpack(p.Data); err != nil {
			return nil, err
		}
	}
}

// next returns the next message of the stream itself.
func (r *Reader) next() (Message, error) {
	if _, err := io.ReadFull(r.r, r.head[:]); err != nil {
		return nil, err
	}
	n, err := payloadOf(r.head[:])
	if err != nil {
		return nil, err
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	payload := r.buf[:n]
	if _, err := io.ReadFull(r.r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return message(r.head[:], payload)
}

// packed returns the next message out of the last Packed.
func (r *Reader) packed() (Message, error) {
	if len(r.inner) < headerSize {
		return nil, ErrMalformed
	}
	head, rest := r.inner[:headerSize], r.inner[headerSize:]
	n, err := payloadOf(head)
	if err != nil {
		return nil, err
	}
	if n > len(rest) || kind(head[4]) == kindPacked {
		return nil, ErrMalformed
	}
	r.inner = rest[n:]
	return message(head, rest[:n])
}

// unpack takes the frames out of a Packed.
func (r *Reader) unpack(data []byte) error {
	in := source{data}
	if r.inflate == nil {
		r.inflate = flate.NewReader(&in)
		r.unpacked = make([]byte, maxUnpacked)
	} else if err := r.inflate.(flate.Resetter).Reset(&in, nil); err != nil {
		return ErrMalformed
	}
	n, err := io.ReadFull(r.inflate, r.unpacked)
	if n == len(r.unpacked) { // find out whether that was all
		_, err = r.inflate.Read(make([]byte, 1))
	}
	ends := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if !ends || n == 0 || len(in.b) > 0 {
		return ErrMalformed
	}
	r.inner = r.unpacked[:n]
	return nil
}

// source is a reader of bytes, which package bytes has too; it brings package unicode along.
type source struct{ b []byte }

func (s *source) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b)
	s.b = s.b[n:]
	return n, nil
}

func (s *source) ReadByte() (byte, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	c := s.b[0]
	s.b = s.b[1:]
	return c, nil
}

// payloadOf returns the length of a frame's payload.
func payloadOf(head []byte) (int, error) {
	n := getUint32(head)
	switch {
	case head[5] != Version:
		return 0, ErrVersion
	case n > MaxPayload:
		return 0, ErrTooLong
	}
	return int(n), nil
}

func message(head, payload []byte) (Message, error) {
	sum := crc32.Update(crc32.Checksum(head[:8], castagnoli), castagnoli, payload)
	if getUint32(head[8:]) != sum {
		return nil, ErrChecksum
	}
	return decode(kind(head[4]), payload)
}
