// Package patch describes content by its differences from other content of the same size. When a line of the source changes,
// compilers and linkers leave most of a program as it was, but addresses move by a few bytes everywhere: no long part stays the
// same, and yet hardly one byte in fifty changes.
//
// Like everything that is part of the program that goes into containers, it uses only the standard library.
package patch

import "errors"

// Edits appends to b the edits that turn old into the new content. Both have the same size. An edit consists of the number of
// unchanged bytes before it and the number of bytes that differ, as unsigned varints, and then the differences, byte by byte: the
// differences of addresses repeat, so that they compress well.
func Edits(b, old, content []byte) []byte {
	old = old[:len(content)]
	same := 0
	for i := 0; i < len(content); {
		if old[i] == content[i] {
			i++
			same++
			continue
		}
		// One equal byte costs less within an edit than between two.
		end := i + 1
		differs := func(at int) bool { return at < len(content) && old[at] != content[at] }
		for differs(end) || end < len(content) && differs(end+1) {
			end++
		}
		b = append(number(number(b, same), end-i), content[i:end]...)
		for at := len(b) - (end - i); i < end; i++ {
			b[at] -= old[i]
			at++
		}
		same = 0
	}
	return b
}

// Error means that edits are malformed, or were not made for content of that size.
var Error = errors.New("malformed edits")

// Apply turns the old content into the new one, in place. After an error it holds neither.
func Apply(content, edits []byte) error {
	for len(edits) > 0 {
		same, used := parse(edits)
		n, more := parse(edits[used:])
		edits = edits[used+more:]
		fits := same <= len(content) && n <= len(content)-same && n <= len(edits)
		if !fits || used == 0 || more == 0 {
			return Error
		}
		for i := range n {
			content[same+i] += edits[i]
		}
		content, edits = content[same+n:], edits[n:]
	}
	return nil
}

// mostBytes bounds a number, in bytes: it is the size of a part.
const mostBytes = 4

func number(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// parse returns a number and how many bytes it takes; zero if there is no number.
func parse(b []byte) (n, used int) {
	for i, c := range b {
		if i == mostBytes {
			break
		}
		n |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// Stop is the number of bytes after which the search for a better end than the best so far is given up.
const Stop = 4096

// Forward returns the number of bytes, from the beginning of both, that are worth a patch: of these, more are the same than differ.
func Forward(old, content []byte) int {
	score, best, size := 0, 0, 0
	for i := range min(len(old), len(content)) {
		if old[i] == content[i] {
			score++
		} else {
			score--
		}
		if score > best {
			best, size = score, i+1
		} else if i-size > Stop {
			break
		}
	}
	return size
}

// Backward is Forward from the ends of both.
func Backward(old, content []byte) int {
	score, best, size := 0, 0, 0
	for i := 1; i <= min(len(old), len(content)); i++ {
		if old[len(old)-i] == content[len(content)-i] {
			score++
		} else {
			score--
		}
		if score > best {
			best, size = score, i
		} else if i-size > Stop {
			break
		}
	}
	return size
}
