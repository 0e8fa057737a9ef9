package logquery

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
)

// inText returns the test of a line by its text. Its prefix is that of a container or a pod, which have keys of their own.
func inText(in func(text []byte) bool) func(logstore.LineRef) bool {
	return func(line logstore.LineRef) bool { return in(line.Text) }
}

// seen returns the visible text of a line.
func seen(line []byte) []byte {
	if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	return []byte(logline.Plain(string(line)))
}

// word returns a term for a part of the text.
func word(s string) term {
	f := fold(s)
	return term{test: inText(f.in), mark: f.all}
}

func expression(body string) (term, error) {
	re, err := regexp.Compile("(?i)" + body)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return term{}, fmt.Errorf("/%s/: %s", body, bad.Code)
		}
		return term{}, fmt.Errorf("/%s/: %w", body, err)
	}
	in := re.Match
	if need := required(body); need != "" { // looking for text is many times faster than matching an expression
		first := fold(need)
		in = func(line []byte) bool { return first.in(line) && re.Match(line) }
	}
	return term{test: inText(in), mark: func(line string) [][]int {
		return slices.DeleteFunc(re.FindAllStringIndex(line, -1), func(at []int) bool { return at[0] == at[1] })
	}}, nil
}

// required returns a text that every match of an expression contains, regardless of letter case; empty if none is found.
func required(body string) string {
	re, err := syntax.Parse("(?i)"+body, syntax.Perl)
	if err != nil {
		return ""
	}
	return literal(re)
}

// literal returns the longest text that every match of an expression contains.
func literal(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return literal(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literal(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if l := literal(sub); len(l) > len(longest) {
				longest = l
			}
		}
		return longest
	default: // may match without any particular text
	}
	return ""
}
