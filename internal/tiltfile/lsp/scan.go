package lsp

import "strings"

// tokenKind is the kind of a token.
type tokenKind int

const (
	tokenName tokenKind = iota
	tokenNumber
	tokenString
	tokenComment
	tokenNewline
	// tokenMark is a single character of punctuation.
	tokenMark
)

// token is a piece of the text between two offsets. White space is not a token.
type token struct {
	kind       tokenKind
	start, end int
	// inner and innerEnd bound the text between the quotes of a string.
	inner, innerEnd int
	// open is set for an unterminated string.
	open bool
}

func (t token) is(text, mark string) bool {
	return (t.kind == tokenMark || t.kind == tokenName) && text[t.start:t.end] == mark
}

// scan splits a text into tokens. The text need not be valid: an unterminated token ends with its line, or with the
// text.
func scan(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		t := token{kind: tokenMark, start: i, end: i + 1}
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\\' && i+1 < len(text) && (text[i+1] == '\n' || text[i+1] == '\r'):
			i++
			if c == '\\' {
				i += len(text[i:]) - len(strings.TrimPrefix(strings.TrimPrefix(text[i:], "\r"), "\n"))
			}
			continue
		case c == '\n':
			t.kind = tokenNewline
		case c == '#':
			t.kind, t.end = tokenComment, lineEnd(text, i)
		case c == '"' || c == '\'':
			t = scanString(text, i, i)
		case isDigit(c):
			t.kind, t.end = tokenNumber, wordEnd(text, i)
		case isNameByte(c):
			t.kind, t.end = tokenName, wordEnd(text, i)
			if p := text[i:t.end]; t.end < len(text) && (text[t.end] == '"' || text[t.end] == '\'') && (p == "r" || p == "b" || p == "rb" || p == "br") {
				t = scanString(text, i, t.end)
			}
		}
		out = append(out, t)
		i = t.end
	}
	return out
}

// scanString reads the string that starts at start and whose opening quote is at quote.
func scanString(text string, start, quote int) token {
	t := token{kind: tokenString, start: start}
	mark := text[quote : quote+1]
	if long := strings.Repeat(mark, 3); strings.HasPrefix(text[quote:], long) {
		mark = long
	}
	t.inner = quote + len(mark)
	for i := t.inner; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], mark):
			t.innerEnd, t.end = i, i+len(mark)
			return t
		case text[i] == '\n' && len(mark) == 1:
			t.innerEnd, t.end, t.open = i, i, true
			return t
		case text[i] == '\\':
			i++
		}
	}
	t.innerEnd, t.end, t.open = len(text), len(text), true
	return t
}

func lineEnd(text string, from int) int {
	if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(text)
}

func wordEnd(text string, from int) int {
	for from < len(text) && (isNameByte(text[from]) || isDigit(text[from])) {
		from++
	}
	return from
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isNameByte reports whether a byte can begin a name; letters beyond ASCII count.
func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
