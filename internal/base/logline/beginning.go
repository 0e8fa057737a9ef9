package logline

import "strings"

// head is the information in the beginning of a line.
type head struct {
	level Level
	// known is set for a line in a format of a logger: lines that are indented below it belong to it.
	known bool
}

// recognise reads the beginning of a line that does not begin with a space.
func recognise(t string) head {
	if t == "" {
		return head{}
	}
	if t[0] == '{' {
		l, ok := jsonLevel(t)
		return head{l, ok}
	}
	if l := special(t); l != Unknown {
		return head{l, true}
	}
	return prefixed(t)
}

// The bounds of the beginning: tokens and bytes that may precede the level.
const (
	headTokens = 14
	headBytes  = 240
	tokenBytes = 128 // of one token

	separatorBytes = 16 // of a separator
)

// beginning reads the usual beginnings of a log line token by token: times, numbers, names in brackets, separators, the level.
type beginning struct {
	t string
	// at is the index of the next token, and n the number of tokens before it.
	at, n int
	// stamped is set once a time was read, and separated if a separator or a bracket is right before the next token.
	stamped, separated bool
	head               head
}

// token is a word of the beginning. Its end is an index into the line.
type token struct {
	text string
	end  int
}

// prefixed recognises a level after the usual beginnings of a log line. A word of prose ends the search, so that the word
// "error" in a sentence does not count.
func prefixed(t string) head {
	b := beginning{t: t}
	for b.at < len(t) && b.at < headBytes && b.n < headTokens {
		if space(t[b.at]) {
			b.at++
			continue
		}
		if ended := b.read(); ended {
			break
		}
		b.n++
	}
	return b.head
}

// read reads the next token, and reports whether the search has ended with it.
func (b *beginning) read() (ended bool) {
	switch b.t[b.at] {
	case '[', '(', '<':
		return b.bracket()
	}
	if n := separator(b.t, b.at); n > 0 {
		b.at += n
		b.separated = true
		return false
	}
	if n := timeAt(b.t, b.at); n > 0 {
		b.at += n
		b.stamped, b.head.known = true, true
		if c := at(b.t, b.at); c == ':' || c == ',' || c == ']' {
			b.at++
		}
		return false
	}
	return b.word()
}

// bracket reads a text in brackets, which may hold the level or a time. A bracket that is not closed ends the search.
func (b *beginning) bracket() (ended bool) {
	end := closing(b.t, b.at)
	if end < 0 {
		return true
	}
	l, isTime := bracketed(b.t[b.at+1:end], b.t[b.at])
	if l != Unknown {
		return b.found(l)
	}
	if isTime {
		b.stamped, b.head.known = true, true
	}
	b.at = end + 1
	if at(b.t, b.at) == ':' {
		b.at++
	}
	b.separated = true
	return false
}

func (b *beginning) found(l Level) (ended bool) {
	b.head = head{l, true}
	return true
}

// word reads a word. A level ends the search, and so does a word that cannot precede a level. At a field of logfmt, the level
// is looked for among the fields.
func (b *beginning) word() (ended bool) {
	tok := b.token()
	if tok.text == "" {
		return true
	}
	if at(b.t, tok.end) == '=' && key(tok.text) {
		if l, ok := logfmtLevel(b.t[b.at:]); ok {
			b.head = head{l, b.head.known || l != Unknown}
		}
		return true
	}
	if l := b.leveled(tok); l != Unknown {
		return b.found(l)
	}
	if !b.passes(tok) {
		if b.stamped && beginsWithAny(b.t[b.at:], dying) {
			return b.found(Error)
		}
		return true
	}
	b.separated = false
	b.at = tok.end
	return false
}

// token returns the token that begins here. A bracket, a bar or an equals sign ends it like a space.
func (b *beginning) token() token {
	end := b.at
	for end < len(b.t) && end-b.at < tokenBytes && !tokenEnd[b.t[end]] {
		end++
	}
	return token{b.t[b.at:end], end}
}

var tokenEnd = classOf(" \t|=[")

// passes reports whether a token that is no level may stand before one.
func (b *beginning) passes(tok token) bool {
	switch {
	case b.location(tok), b.origin(tok), b.day(tok), b.month(tok), b.date(tok), b.step(tok), b.stepTime(tok), b.count(tok), b.container(tok):
		return true
	}
	return false
}

// location is a line of a file, "file.go:12:" or "file.ts(4,7):".
func (b *beginning) location(tok token) bool { return (b.n == 0 || b.stamped) && located(tok.text) }

// origin is written after a time: a number, a time zone, "user@host", a name before a separator.
func (b *beginning) origin(tok token) bool {
	if !b.stamped {
		return false
	}
	if number(tok.text) || zoneName(tok.text) {
		return true
	}
	return strings.IndexByte(tok.text, '@') > 0 || followedBySeparator(b.t, tok.end)
}

// day, month and date are the parts of "Fri Nov 20 12:41:03 2026".
func (b *beginning) day(tok token) bool { return b.n < 3 && weekday(strings.TrimSuffix(tok.text, ",")) }

func (b *beginning) month(tok token) bool {
	return len(tok.text) == 3 && month(tok.text, 0) && digit(at(b.t, tok.end+1))
}

func (b *beginning) date(tok token) bool {
	if b.n == 0 || b.n >= 5 || !number(strings.TrimSuffix(tok.text, ",")) {
		return false
	}
	return clockSoon(b.t, tok.end) || timeBefore(b.t, b.at)
}

// step and stepTime begin BuildKit's output of a step: "#9 1.92 ".
func (b *beginning) step(tok token) bool {
	n := len(tok.text) - 1
	return tok.text[0] == '#' && n > 0 && digits(tok.text, 1) == n
}

func (b *beginning) stepTime(tok token) bool { return b.n == 1 && b.t[0] == '#' && number(tok.text) }

// count is a number at the very beginning: seconds since 1970, or the "1:M" of Redis.
func (b *beginning) count(tok token) bool {
	if b.n > 0 || !number(tok.text) {
		return false
	}
	return len(tok.text) >= 9 || strings.IndexByte(tok.text, ':') > 0
}

// container is the name that docker compose puts before a line: "web-1  | ".
func (b *beginning) container(tok token) bool {
	return b.n == 0 && strings.HasPrefix(strings.TrimLeft(b.t[tok.end:], " \t"), "|")
}

func space(c byte) bool { return c == ' ' || c == '\t' }

// closing returns the index of the bracket that closes the one at i, not far away, or -1.
func closing(t string, i int) int {
	want, depth := t[i]+2, 0 // "[]" and "<>"
	if t[i] == '(' {
		want = ')'
	}
	for j := i; j < len(t) && j < i+120; j++ {
		switch t[j] {
		case t[i]:
			depth++
		case want:
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// separator returns the length of a separator at i: "-", "--", "---", "|", "*", "✘" and the like, alone between spaces.
func separator(t string, i int) int {
	if t[i] == '|' {
		return 1
	}
	n := 0
	for n < separatorBytes && dash[at(t, i+n)] {
		n++
	}
	if n == 0 {
		return 0
	}
	if c := at(t, i+n); i+n == len(t) || space(c) || c == '[' {
		return n
	}
	return 0
}

// dash are the characters of separators: dashes, stars, arrows, and those beyond ASCII.
var dash = classOf("-*>").andBeyond()

func followedBySeparator(t string, i int) bool {
	i = blanks(t, i)
	return i < len(t) && separator(t, i) > 0
}

// numeric are the characters of numbers in a beginning.
var numeric = classOf(decimal + ".:#,*")

// zoneLike are the characters of time zones.
var zoneLike = classOf(capital + ":")

// number reports whether a token is a number, or two joined as in "7#7:" or "1:M".
func number(tok string) bool {
	if !digit(at(tok, 0)) {
		return false
	}
	letters := 0
	for i := range len(tok) {
		switch c := tok[i]; {
		case numeric[c]:
		case letter(c):
			letters++
		default:
			return false
		}
	}
	return letters <= 1
}

// zoneName reports whether a token may be a time zone, or AM and PM.
func zoneName(tok string) bool { return 2 <= len(tok) && len(tok) <= 5 && zoneLike.all(tok) }

// clockSoon reports whether a time of day follows, or a year and a time of day.
func clockSoon(t string, i int) bool {
	for at(t, i) == ' ' {
		i++
	}
	if n := digits(t, i); n == 4 && at(t, i+n) == ' ' {
		i += n + 1
	}
	return clockAt(t, i) > 0
}

func timeBefore(t string, i int) bool { return i > 3 && at(t, i-1) == ' ' && digit(at(t, i-2)) }

// located reports whether a token is a place in a file, before a compiler's message.
func located(tok string) bool {
	if len(tok) < 4 || tok[len(tok)-1] != ':' {
		return false
	}
	i := strings.IndexAny(tok, ":(")
	return i > 0 && strings.IndexByte(tok[:i], '.') > 0 && digit(at(tok, i+1))
}
