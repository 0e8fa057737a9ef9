package logquery

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// folded finds a text regardless of letter case.
type folded struct {
	lower []byte
	ascii bool
	// anchor is the position of the byte to look for first, in both cases.
	anchor       int
	small, large byte
}

func fold(s string) folded {
	f := folded{lower: []byte(strings.ToLower(s)), ascii: true}
	for i := range len(s) {
		f.ascii = f.ascii && s[i] < utf8.RuneSelf
	}
	if !f.ascii {
		return f
	}
	// Letters without a case, such as digits, are found at once; of the rest, the rarest letters of English text.
	best := -1
	for i, c := range f.lower {
		if rare := rarity(c); rare > best {
			best, f.anchor = rare, i
		}
	}
	if len(f.lower) > 0 {
		f.small = f.lower[f.anchor]
		f.large = f.small
		if 'a' <= f.small && f.small <= 'z' {
			f.large = f.small - 'a' + 'A'
		}
	}
	return f
}

func rarity(c byte) int {
	switch {
	case c == ' ' || c == '0' || c == '1':
		return 0
	case 'a' <= c && c <= 'z':
		return 1 + strings.IndexByte("etaoinsrhldcumfpgwybvkxjqz", c)
	}
	return 20
}

func (f folded) len() int { return len(f.lower) }

// in reports whether a line contains the text.
func (f folded) in(line []byte) bool { return f.index(line) >= 0 }

// index returns the position of the text in a line; -1 if it does not contain it.
func (f folded) index(line []byte) int {
	if !f.ascii {
		return bytes.Index(bytes.ToLower(line), f.lower)
	}
	n := len(f.lower)
	if n == 0 {
		return 0
	}
	for from := f.anchor; from <= len(line)-n+f.anchor; {
		rest := line[from : len(line)-n+f.anchor+1]
		i := bytes.IndexByte(rest, f.small)
		if f.large != f.small {
			if i < 0 {
				i = len(rest)
			}
			if j := bytes.IndexByte(rest[:i], f.large); j >= 0 {
				i = j
			}
			if i == len(rest) {
				return -1
			}
		}
		if i < 0 {
			return -1
		}
		if at := from + i - f.anchor; f.at(line[at : at+n]) {
			return at
		}
		from += i + 1
	}
	return -1
}

func (f folded) at(part []byte) bool {
	for i, c := range part {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != f.lower[i] {
			return false
		}
	}
	return true
}

// all returns the byte ranges of the text in a line. For text with letters whose lower case has another length, it returns
// the ranges in the lower case.
func (f folded) all(line string) [][]int {
	var out [][]int
	b := []byte(line)
	for from := 0; len(f.lower) > 0; {
		i := f.index(b[from:])
		if i < 0 {
			break
		}
		out = append(out, []int{from + i, from + i + len(f.lower)})
		from += i + len(f.lower)
	}
	return out
}
