package protocol

import (
	"hash"
	"hash/fnv"
)

// Sum is the content of a file in short: its 128-bit FNV-1a hash. It tells contents apart that differ by accident, which
// is all it is for; a cryptographic hash would make the program a quarter bigger, and slower to start, for the sake of
// files that their owner sends to a container of his own.
type Sum [16]byte

// Summer computes a Sum of content that comes in parts.
type Summer struct{ h hash.Hash }

// NewSummer returns a summer that has seen nothing.
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
