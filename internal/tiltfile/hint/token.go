package hint

import (
	"strings"
	"unicode"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// locateToken finds the beginning of the token at which the parser failed. Where a token is missing, the parser reports
// the end of the unexpected token; for the end of a line, it reports the beginning of the next line.
func locateToken(src string, e syntax.Error) Explanation {
	x := Explanation{Line: int(e.Pos.Line), Col: int(e.Pos.Col), Msg: e.Msg}
	got, want, ok := strings.Cut(strings.TrimPrefix(e.Msg, "got "), ", want ")
	if !ok || want == "primary expression" || !strings.HasPrefix(e.Msg, "got ") {
		if got == "newline" {
			x.toLineEnd(src)
		}
		return x
	}
	line := []rune(fault.LineOf(src, x.Line))
	at := min(max(x.Col-1, 0), len(line))
	switch {
	case got == "newline", got == "end of file":
		x.Line--
		x.toLineEnd(src)
		return x
	case got == "string literal":
		at = stringStart(line, at)
	case strings.HasPrefix(got, "'"):
		at -= len(strings.Trim(got, "'"))
	default:
		for at > 0 && inName(line[at-1]) {
			at--
		}
	}
	x.Col = max(at, 0) + 1
	return x
}

// toLineEnd moves to the end of the text of the line, or of the last line before it that has text.
func (x *Explanation) toLineEnd(src string) {
	for ; x.Line > 1; x.Line-- {
		if strings.TrimSpace(blankStrings(fault.LineOf(src, x.Line))) != "" {
			break
		}
	}
	x.Line = max(x.Line, 1)
	x.Col = len([]rune(strings.TrimRightFunc(blankStrings(fault.LineOf(src, x.Line)), unicode.IsSpace))) + 1
}

// stringStart finds the beginning of a string that ends before a place on the same line, with its prefix.
func stringStart(line []rune, end int) int {
	if end < 2 {
		return 0
	}
	quote := line[end-1]
	at := end - 2
	for at > 0 && (line[at] != quote || line[at-1] == '\\') {
		at--
	}
	return max(at, 0)
}

// blankStrings replaces the contents of a line's strings with letters and removes its comment, so that only code is left.
func blankStrings(line string) string {
	out := []rune(line)
	var quote rune
	for i := 0; i < len(out); i++ {
		switch r := out[i]; {
		case quote != 0 && r == '\\' && i+1 < len(out):
			out[i], out[i+1] = 'x', 'x'
			i++
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			out[i] = 'x'
		case r == '"', r == '\'':
			quote = r
		case r == '#':
			return string(out[:i])
		}
	}
	return string(out)
}

// bracket is an opening bracket that is not closed.
type bracket struct {
	sign      rune
	line, col int
}

// openBrackets returns the unclosed brackets at a place, innermost last. Line 0 means the end of the text.
func openBrackets(src string, line, col int) []bracket {
	var open []bracket
	var quote string
	runes := []rune(src)
	l, c := 1, 0
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		c++
		if beyond := l > line || l == line && c >= col; beyond && line > 0 {
			break
		}
		rest := runes[i:min(i+3, len(runes))]
		switch {
		case r == '\n':
			l, c = l+1, 0
			if len(quote) == 1 {
				quote = ""
			}
		case quote != "":
			if r == '\\' && len(rest) > 1 && rest[1] != '\n' {
				i, c = i+1, c+1
				continue
			}
			if strings.HasPrefix(string(rest), quote) {
				i, c = i+len(quote)-1, c+len(quote)-1
				quote = ""
			}
		case r == '"' || r == '\'':
			quote = string(r)
			if string(rest) == strings.Repeat(quote, 3) {
				i, c, quote = i+2, c+2, string(rest)
			}
		case r == '#':
			for i+1 < len(runes) && runes[i+1] != '\n' {
				i++
			}
		case strings.ContainsRune("([{", r):
			open = append(open, bracket{r, l, c})
		case strings.ContainsRune(")]}", r) && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return open
}

var closing = map[rune]string{'(': ")", '[': "]", '{': "}"}

// inName reports whether a character belongs to a name, or to a chain of names with dots.
func inName(c rune) bool {
	return c == '_' || c == '.' || unicode.IsLetter(c) || unicode.IsDigit(c)
}
