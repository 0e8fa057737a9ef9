package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// pathStep is one element of a JSONPath: a field name, an index, every item (all), or the items whose field equals a
// value (field and equals set).
type pathStep struct {
	name   string
	index  int
	kind   stepKind
	equals string
}

type stepKind int

const (
	stepName stepKind = iota
	stepIndex
	stepAll
	stepWhere
)

// parsePath reads the part of JSONPath that places in an object need: ".a.b", "['a']", "[0]", "[*]", ".*" and
// `[?(@.name=="x")]`, with or without the surrounding braces and the leading "$".
func parsePath(path string) ([]pathStep, error) {
	s := strings.TrimSpace(path)
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	s = strings.TrimPrefix(s, "$")
	if s != "" && s[0] != '.' && s[0] != '[' {
		s = "." + s
	}
	var steps []pathStep
	for s != "" {
		step, rest, err := nextStep(s)
		if err != nil {
			return nil, fmt.Errorf("JSONPath %q: %w", path, err)
		}
		steps, s = append(steps, step), rest
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("JSONPath %q is empty", path)
	}
	return steps, nil
}

func nextStep(s string) (step pathStep, rest string, err error) {
	if s[0] == '.' {
		end := strings.IndexAny(s[1:], ".[")
		if end < 0 {
			end = len(s) - 1
		}
		name, rest := s[1:end+1], s[end+1:]
		switch name {
		case "":
			return step, "", fmt.Errorf("a field name is missing before %q", rest)
		case "*":
			return pathStep{kind: stepAll}, rest, nil
		}
		return pathStep{name: name}, rest, nil
	}
	if s[0] != '[' {
		return step, "", fmt.Errorf("expected \".\" or \"[\" at %q", s)
	}
	end := closingBracket(s)
	if end < 0 {
		return step, "", fmt.Errorf("%q has no closing bracket", s)
	}
	step, err = bracketStep(strings.TrimSpace(s[1:end]))
	return step, s[end+1:], err
}

// closingBracket returns the index of the bracket that closes the one at s[0], outside of quotes, or -1.
func closingBracket(s string) int {
	var quote byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ']':
			return i
		}
	}
	return -1
}

func bracketStep(s string) (pathStep, error) {
	if s == "*" {
		return pathStep{kind: stepAll}, nil
	}
	if name, ok := unquote(s); ok {
		return pathStep{name: name}, nil
	}
	if i, err := strconv.Atoi(s); err == nil {
		return pathStep{kind: stepIndex, index: i}, nil
	}
	inner, ok := strings.CutPrefix(s, "?(@.")
	inner, closed := strings.CutSuffix(inner, ")")
	name, value, equal := strings.Cut(inner, "==")
	if want, quoted := unquote(strings.TrimSpace(value)); ok && closed && equal && quoted {
		return pathStep{kind: stepWhere, name: strings.TrimSpace(name), equals: want}, nil
	}
	return pathStep{}, fmt.Errorf("cannot read [%s]", s)
}

func unquote(s string) (string, bool) {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1], true
	}
	return "", false
}

// eachAt calls visit for every value at steps below v with the value and a function that replaces it, in a fixed order.
func eachAt(v any, steps []pathStep, set func(any), visit func(v any, set func(any)) error) error {
	if len(steps) == 0 {
		return visit(v, set)
	}
	step := steps[0]
	down := func(next any, set func(any)) error { return eachAt(next, steps[1:], set, visit) }
	switch v := v.(type) {
	case map[string]any:
		keys := []string{step.name}
		if step.kind == stepAll {
			keys = slices.Sorted(maps.Keys(v))
		} else if step.kind != stepName {
			return nil
		}
		for _, k := range keys {
			if next, ok := v[k]; ok {
				if err := down(next, func(n any) { v[k] = n }); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, next := range v {
			if !step.selects(i, len(v), next) {
				continue
			}
			if err := down(next, func(n any) { v[i] = n }); err != nil {
				return err
			}
		}
	}
	return nil
}

// selects reports whether the step means item i of a list of n items.
func (p pathStep) selects(i, n int, item any) bool {
	switch p.kind {
	case stepAll:
		return true
	case stepIndex:
		return i == p.index || i == p.index+n
	case stepWhere:
		m, _ := item.(map[string]any)
		return m != nil && text(m, p.name) == p.equals
	default:
		return false
	}
}
