package protocol

import "errors"

// ErrMalformed means that a payload does not match its type.
var ErrMalformed = errors.New("a frame is malformed")

// encoder appends values to a payload.
type encoder struct{ b []byte }

// Package encoding/binary would do this too; it brings reflection along, which is a tenth of the program.

func putUint32(b []byte, n uint32) {
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
}

func getUint32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func appendUvarint(b []byte, n uint64) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// uvarint returns a number and how many bytes it takes, zero if there is no number.
func uvarint(b []byte) (n uint64, size int) {
	for i, c := range b {
		if i == 9 && c > 1 || i > 9 {
			return 0, 0
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// Numbers are read and written in about a hundred places. A copy of the code in each of them makes the program 36 KB larger (amd64).

//go:noinline
func (e *encoder) number(n uint64) { e.b = appendUvarint(e.b, n) }

func (e *encoder) bytes(p []byte) { e.number(uint64(len(p))); e.b = append(e.b, p...) }
func (e *encoder) text(s string)  { e.number(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) sum(s Sum)      { e.b = append(e.b, s[:]...) }
func (e *encoder) texts(list []string) {
	e.number(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

// decoder takes values out of a payload. After the first missing value, bad is set and all others are zero.
type decoder struct {
	b   []byte
	bad bool
}

//go:noinline
func (d *decoder) number() uint64 {
	n, size := uvarint(d.b)
	if size == 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) bytes() []byte { return d.take(d.number()) }
func (d *decoder) text() string  { return string(d.bytes()) }

func (d *decoder) sum() (s Sum) {
	copy(s[:], d.take(uint64(len(s))))
	return s
}

func (d *decoder) texts() (list []string) {
	for range d.count() {
		list = append(list, d.text())
	}
	return list
}
