package protocol

import "math/bits"

// Sum is the 128-bit MurmurHash3 (x64 variant, seed 0) of a file's content. It only has to distinguish contents that differ by
// accident: users send only their own files to their own containers. It is the fastest such hash that is a page of code; a
// cryptographic one would make the program a quarter bigger, and slower to start.
type Sum [16]byte

// Short returns half of the sum, which is enough to find a part of a file that is verified afterwards.
func (s Sum) Short() uint64 { return getUint64(s[:]) }

const (
	sumFirst  = 0x87c37b91114253d5
	sumSecond = 0x4cf5ad432745937f
)

// Summer computes a Sum of content that comes in parts. Its zero value is a Summer without content.
type Summer struct {
	h1, h2 uint64
	n      uint64
	// tail are the n%16 bytes that do not make a block yet.
	tail [16]byte
}

// Write adds content; it never fails.
func (s *Summer) Write(p []byte) (int, error) {
	size := len(p)
	if at := int(s.n % 16); at > 0 {
		taken := copy(s.tail[at:], p)
		s.n += uint64(taken)
		p = p[taken:]
		if at+taken < 16 {
			return size, nil
		}
		s.blocks(s.tail[:])
	}
	whole := len(p) &^ 15
	s.blocks(p[:whole])
	copy(s.tail[:], p[whole:])
	s.n += uint64(len(p))
	return size, nil
}

func (s *Summer) blocks(p []byte) {
	h1, h2 := s.h1, s.h2
	for len(p) >= 16 {
		h1 ^= bits.RotateLeft64(getUint64(p)*sumFirst, 31) * sumSecond
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(getUint64(p[8:])*sumSecond, 33) * sumFirst
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
		p = p[16:]
	}
	s.h1, s.h2 = h1, h2
}

// Sum returns the sum of everything written.
func (s *Summer) Sum() (out Sum) {
	h1, h2 := s.h1, s.h2
	if left := s.n % 16; left > 0 {
		rest := s.tail
		clear(rest[left:])
		h2 ^= bits.RotateLeft64(getUint64(rest[8:])*sumSecond, 33) * sumFirst
		h1 ^= bits.RotateLeft64(getUint64(rest[:])*sumFirst, 31) * sumSecond
	}
	h1, h2 = h1^s.n, h2^s.n
	h1 += h2
	h2 += h1
	h1, h2 = mixed(h1), mixed(h2)
	h1 += h2
	h2 += h1
	putUint64(out[:], h1)
	putUint64(out[8:], h2)
	return out
}

func mixed(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}

// SumOf returns the sum of content.
func SumOf(content []byte) Sum {
	var s Summer
	_, _ = s.Write(content)
	return s.Sum()
}

func getUint64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func putUint64(b []byte, n uint64) {
	putUint32(b, uint32(n))
	putUint32(b[4:], uint32(n>>32))
}
