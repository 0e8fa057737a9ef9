// Package logline reads lines of programs' logs: the level of a line, the entry that it belongs to, the message that
// it is an instance of, its fields, and the places in source files that it names.
//
// The functions know the common formats of logs (JSON, logfmt, klog, and the loggers of Go, Python, Java, Node, Rust, Ruby,
// .NET, PHP, nginx and PostgreSQL) and the stack traces of these languages. They are pure, take time linear in the length
// of a line, and look only at the beginning of a very long one. Escape sequences in a line do not matter.
package logline

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The parts of a line that are looked at, in bytes. They bound the time that a line takes, and text beyond them is
// rarely in a line that a person reads.
const (
	maxHead   = 8 << 10  // for its level and its pattern
	maxPlaces = 16 << 10 // for places
	maxFields = 64 << 10 // for fields; a longer line has none
)

// Plain returns a line without escape sequences.
func Plain(text string) string {
	if strings.IndexByte(text, 0x1b) < 0 {
		return text
	}
	return ansi.Strip(text)
}

// plain is Plain of the first n bytes of a line.
func plain(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return Plain(text)
}

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func upper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func lower(c byte) bool  { return 'a' <= c && c <= 'z' }
func letter(c byte) bool { return upper(c) || lower(c) }
func alnum(c byte) bool  { return digit(c) || letter(c) }

// numberAt reports whether a number begins at i, rather than within a word.
func numberAt(t string, i int) bool { return digit(t[i]) && !alnum(at(t, i-1)) }

// at returns the byte at i, or 0 outside of the string.
func at(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

// digits returns the number of digits at i.
func digits(s string, i int) int {
	n := 0
	for digit(at(s, i+n)) {
		n++
	}
	return n
}

// class is a set of characters, by their bytes.
type class [256]bool

// classOf returns a class of ASCII characters.
func classOf(characters string) *class {
	var c class
	for i := range len(characters) {
		c[characters[i]] = true
	}
	return &c
}

// andBeyond adds the characters beyond ASCII.
func (c *class) andBeyond() *class {
	for i := 0x80; i < len(c); i++ {
		c[i] = true
	}
	return c
}

// Classes for several kinds of text.
var (
	hexadecimal  = classOf(decimal + "abcdefABCDEF")
	alphanumeric = classOf(small + capital + decimal)
	wordBytes    = classOf(small + capital + decimal).andBeyond()
	identifier   = classOf(small + capital + "_")
)

// all reports whether s has only characters of the class.
func (c *class) all(s string) bool { return c.length(s) == len(s) }

// length returns the number of bytes of the class that s begins with.
func (c *class) length(s string) int {
	for i := range len(s) {
		if !c[s[i]] {
			return i
		}
	}
	return len(s)
}

// before returns the number of bytes of the class in front of i, at most n.
func (c *class) before(t string, i, n int) int {
	least := max(0, i-n)
	j := i
	for j > least && c[t[j-1]] {
		j--
	}
	return i - j
}

// like reports whether s has a form at i: '0' stands for a digit, 'x' for a hexadecimal one, and everything else for itself. A number at
// the end of the form has no more digits in s.
func like(s string, i int, form string) bool {
	if len(s)-i < len(form) {
		return false
	}
	for k := range len(form) {
		if !stands(form[k], s[i+k]) {
			return false
		}
	}
	return form[len(form)-1] != '0' || !digit(at(s, i+len(form)))
}

// stands reports whether a character of a form stands for c.
func stands(form, c byte) bool {
	switch form {
	case '0':
		return digit(c)
	case 'x':
		return hexadecimal[c]
	}
	return c == form
}
