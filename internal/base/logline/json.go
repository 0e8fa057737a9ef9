package logline

import "strings"

// opens reports whether JSON over several lines begins.
func opens(t string) bool {
	if len(t) > 8 {
		return false
	}
	switch strings.TrimRight(t, " \t\r") {
	case "{", "[", "[{":
		return true
	}
	return false
}

// jsonFlush are the first characters of lines of JSON that are not indented.
var jsonFlush = classOf(`{}]"`)

// json reads a line of JSON over several lines, and reports whether it is one.
func (r *Reader) json(t, body string) bool {
	r.members++
	if r.members > maxJSON || len(body) == len(t) && !jsonFlush[body[0]] {
		return false
	}
	if r.level == Unknown {
		r.level = memberLevel(body)
	}
	r.depth = max(0, r.depth+opened(t))
	return true
}

// memberLevel returns the level that a line holds as a member of an object: `"level": "warn",`.
func memberLevel(body string) Level {
	if body[0] != '"' {
		return Unknown
	}
	end := quoted(body, 0)
	if end < 0 || !holdsLevel.of(body[1:end]) {
		return Unknown
	}
	j := blanks(body, end+1)
	if at(body, j) != ':' {
		return Unknown
	}
	return value(body[1:end], scalar(body, blanks(body, j+1)))
}

// opened returns the number of brackets that a line opens, less those that it closes. Those in strings do not count.
func opened(t string) int {
	n := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '{', '[':
			n++
		case '}', ']':
			n--
		case '"':
			if end := quoted(t, i); end > 0 {
				i = end
			}
		}
	}
	return n
}
