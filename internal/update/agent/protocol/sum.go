package protocol

import (
	"hash"
	"hash/fnv"
)

// Sum is the 128-bit FNV-1a hash of a file's content. It only has to distinguish contents that differ by accident; a
// cryptographic hash would make the program a quarter bigger, and slower to start, although users send only their own
// files to their own containers.
type Sum [16]byte

// Summer computes a Sum of content that comes in parts.
type Summer struct{ h hash.Hash }

// NewSummer returns a Summer without content.
func NewSummer() Summer { return Summer{fnv.New128a()} }

// Write adds content; it never fails.
func (s Summer) Write(p []byte) (int, error) { return s.h.Write(p) }

// Sum returns the sum of everything written.
func (s Summer) Sum() (out Sum) {
	s.h.Sum(out[:0])
	return out
}

// SumOf returns the sum of content.
func SumOf(content []byte) Sum {
	s := NewSummer()
	_, _ = s.Write(content)
	return s.Sum()
}
