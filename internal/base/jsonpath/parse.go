package jsonpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a path: ".a.b", "['a']", "['a','b']", "[0]", "[0,2]", "[1:3]", "[*]", ".*", "..a", `[?(@.name=="x")]`,
// `[?(@.name!="x")]` and "[?(@.name)]", with or without the surrounding braces and the leading "$". A backslash escapes
// the character that follows it, as in ".metadata.labels.app\.kubernetes\.io/name". Templates with text, ranges and
// functions are not supported.
func Parse(text string) (Path, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	s = strings.TrimPrefix(s, "$")
	if s != "" && s[0] != '.' && s[0] != '[' {
		s = "." + s
	}
	steps, err := parseSteps(s)
	switch {
	case err != nil:
		return Path{}, fmt.Errorf("JSONPath %q: %w", text, err)
	case len(steps) == 0:
		return Path{}, fmt.Errorf("JSONPath %q is empty", text)
	}
	return Path{text, steps}, nil
}

func parseSteps(s string) ([]step, error) {
	var steps []step
	for s != "" {
		var more []step
		var err error
		if more, s, err = nextSteps(s); err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// nextSteps reads one step, or two for ".." before a name.
func nextSteps(s string) (steps []step, rest string, err error) {
	if rest, ok := strings.CutPrefix(s, ".."); ok {
		steps = []step{{kind: stepDeep}}
		if strings.HasPrefix(rest, "[") {
			return steps, rest, nil
		}
		s = "." + rest
	}
	switch s[0] {
	case '.':
		name, rest := readName(s[1:])
		switch name {
		case "":
			return nil, "", fmt.Errorf("a field name is missing at %q", s)
		case "*":
			return append(steps, step{kind: stepAll}), rest, nil
		}
		return append(steps, step{kind: stepNames, names: []string{unescape(name)}}), rest, nil
	case '[':
		end := closingBracket(s)
		if end < 0 {
			return nil, "", fmt.Errorf("%q has no closing bracket", s)
		}
		st, err := bracketStep(strings.TrimSpace(s[1:end]))
		return append(steps, st), s[end+1:], err
	}
	return nil, "", fmt.Errorf("expected \".\" or \"[\" at %q", s)
}

// readName returns the text before the next "." or "[", with its backslashes.
func readName(s string) (name, rest string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '.', '[':
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func unescape(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+1 < len(name) {
			i++
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// closingBracket returns the index of the bracket that closes the one at s[0], outside of quotes, or -1.
func closingBracket(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"':
			end := strings.IndexByte(s[i+1:], s[i])
			if end < 0 {
				return -1
			}
			i += end + 1
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func bracketStep(s string) (step, error) {
	switch {
	case s == "*":
		return step{kind: stepAll}, nil
	case strings.HasPrefix(s, "?"):
		return whereStep(s)
	case s != "" && (s[0] == '\'' || s[0] == '"'):
		return namesStep(s)
	case strings.Contains(s, ":"):
		return sliceStep(s)
	}
	out := step{kind: stepIndexes}
	for part := range strings.SplitSeq(s, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return step{}, fmt.Errorf("cannot read [%s]", s)
		}
		out.indexes = append(out.indexes, i)
	}
	return out, nil
}

// namesStep reads one or more quoted names.
func namesStep(s string) (step, error) {
	out := step{kind: stepNames}
	for rest := s; ; {
		rest = strings.TrimSpace(rest)
		if rest == "" || rest[0] != '\'' && rest[0] != '"' {
			return step{}, fmt.Errorf("cannot read [%s]", s)
		}
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return step{}, fmt.Errorf("cannot read [%s]", s)
		}
		out.names = append(out.names, rest[1:end+1])
		rest = strings.TrimSpace(rest[end+2:])
		if rest == "" {
			return out, nil
		}
		var more bool
		if rest, more = strings.CutPrefix(rest, ","); !more {
			return step{}, fmt.Errorf("cannot read [%s]", s)
		}
	}
}

func sliceStep(s string) (step, error) {
	parts := strings.Split(s, ":")
	var numbers [3]*int
	if len(parts) > len(numbers) {
		return step{}, fmt.Errorf("cannot read [%s]", s)
	}
	for i, p := range parts {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		n, err := strconv.Atoi(p)
		if err != nil {
			return step{}, fmt.Errorf("cannot read [%s]", s)
		}
		numbers[i] = &n
	}
	if by := numbers[2]; by != nil && *by < 1 {
		return step{}, fmt.Errorf("cannot read [%s]: the step must be positive", s)
	}
	return step{kind: stepSlice, slice: bounds{numbers[0], numbers[1], numbers[2]}}, nil
}

func whereStep(s string) (step, error) {
	inner, ok := strings.CutPrefix(s, "?(")
	inner, closed := strings.CutSuffix(inner, ")")
	if inner = strings.TrimSpace(inner); !ok || !closed || !strings.HasPrefix(inner, "@") {
		return step{}, fmt.Errorf("cannot read [%s]", s)
	}
	c := condition{}
	field := inner[1:]
	if i := operator(field); i >= 0 {
		var err error
		c.op = field[i : i+2]
		if c.equals, err = literal(strings.TrimSpace(field[i+2:])); err != nil {
			return step{}, fmt.Errorf("cannot read [%s]: %w", s, err)
		}
		field = field[:i]
	}
	var err error
	if c.path, err = parseSteps(strings.TrimSpace(field)); err != nil {
		return step{}, fmt.Errorf("cannot read [%s]: %w", s, err)
	}
	return step{kind: stepWhere, where: c}, nil
}

// operator returns the index of "==" or "!=" outside of quotes, or -1.
func operator(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\'' || s[i] == '"' {
			end := strings.IndexByte(s[i+1:], s[i])
			if end < 0 {
				return -1
			}
			i += end + 1
			continue
		}
		if op := s[i : i+2]; op == "==" || op == "!=" {
			return i
		}
	}
	return -1
}

// literal reads a quoted string, a number, true or false.
func literal(s string) (any, error) {
	for _, quote := range []string{`'`, `"`} {
		if text, ok := strings.CutPrefix(s, quote); ok && strings.HasSuffix(text, quote) {
			return strings.TrimSuffix(text, quote), nil
		}
	}
	switch s {
	case "true", "false":
		return s == "true", nil
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return n, nil
	}
	return nil, errors.New("want a quoted string, a number, true or false")
}
