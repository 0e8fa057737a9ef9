package lsp

import (
	"slices"
	"strings"
)

// tokenKind is the kind of a token.
type tokenKind int

const (
	// tokenNone is the kind beyond the text.
	tokenNone tokenKind = iota
	tokenName
	// tokenKeyword is a word of Starlark, which cannot be a name.
	tokenKeyword
	tokenNumber
	tokenString
	tokenComment
	tokenNewline
	// tokenMark is a single character of punctuation, or two that end with "=".
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

// keywordList are the keywords of Starlark.
var keywordList = []string{"and", "break", "continue", "def", "elif", "else", "for", "if", "in", "lambda", "load", "not", "or",
	"pass", "return", "while"}

// stringPrefixes are the words that make the string after them a raw string, or one of bytes.
var stringPrefixes = []string{"r", "b", "rb", "br"}

// scan splits a text into tokens. The text need not be valid: an unterminated token ends with its line, or with the
// text.
func scan(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		t := token{kind: tokenMark, start: i, end: i + 1}
		switch c := text[i]; {
		case c == '\n':
			t.kind = tokenNewline
		case c == '#':
			t.kind, t.end = tokenComment, lineEnd(text, i)
		case isQuote(text, i):
			t = scanString(text, i, i)
		case isDigit(c):
			t.kind, t.end = tokenNumber, wordEnd(text, i)
		case isNameByte(c):
			t = scanWord(text, i)
		case blank(text[i:]) > 0:
			i += blank(text[i:])
			continue
		case strings.IndexByte("=!<>+-*/%&|^", c) >= 0:
			t.end += len(text[i+1:]) - len(strings.TrimPrefix(text[i+1:], "="))
		}
		out = append(out, t)
		i = t.end
	}
	return out
}

// blank returns the length of the white space that a text begins with: spaces, or a line break that a backslash hides.
func blank(text string) int {
	for _, space := range []string{" ", "\t", "\\\r\n", "\\\n", "\\\r", "\r"} {
		if strings.HasPrefix(text, space) {
			return len(space)
		}
	}
	return 0
}

// scanWord reads the name or keyword at a place, or the string whose prefix it is.
func scanWord(text string, start int) token {
	end := wordEnd(text, start)
	word := text[start:end]
	switch {
	case slices.Contains(keywordList, word):
		return token{kind: tokenKeyword, start: start, end: end}
	case isQuote(text, end) && slices.Contains(stringPrefixes, word):
		return scanString(text, start, end)
	}
	return token{kind: tokenName, start: start, end: end}
}

// isQuote reports whether a string could begin at a place.
func isQuote(text string, at int) bool {
	return at < len(text) && strings.IndexByte(`"'`, text[at]) >= 0
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
