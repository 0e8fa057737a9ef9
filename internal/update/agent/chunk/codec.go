package chunk

import "errors"

// errMalformed means that a list is none, or does not describe a file of the given size.
var errMalformed = errors.New("a malformed list of chunks")

// largest is the size of the largest chunk that any file has, in bytes.
const largest = 8 << Largest

// Append adds the list to b, with its bounds: a byte, then for each chunk its size as an unsigned varint and its hash.
func (l List) Append(b []byte, bounds uint) []byte {
	b = append(b, byte(bounds))
	for _, c := range l {
		n := c.Size
		for ; n >= 0x80; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		b = append(b, byte(n))
		for shift := 0; shift < 64; shift += 8 {
			b = append(b, byte(c.Hash>>shift))
		}
	}
	return b
}

// Parse reads a list that Append has written about a file of the given size.
func Parse(b []byte, size uint64) (List, error) {
	if len(b) == 0 || b[0] < Smallest || b[0] > Largest {
		return nil, errMalformed
	}
	var l List
	left := size
	for b = b[1:]; len(b) > 0; {
		n, used := uint64(0), 0
		for used < len(b) && used < 5 {
			c := b[used]
			n |= uint64(c&0x7f) << (7 * used)
			if used++; c < 0x80 {
				break
			}
		}
		b = b[used:]
		if fits := 0 < n && n <= min(left, largest); !fits || len(b) < 8 {
			return nil, errMalformed
		}
		c := Chunk{Size: uint32(n)}
		for i := range 8 {
			c.Hash |= uint64(b[i]) << (8 * i)
		}
		b, left = b[8:], left-n
		l = append(l, c)
	}
	if left != 0 {
		return nil, errMalformed
	}
	return l, nil
}
