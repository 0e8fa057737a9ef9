package logquery

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Parse parses a query. The error says which word is wrong.
func Parse(typed string) (Query, error) {
	q := Query{Text: strings.TrimSpace(typed)}
	for rest := q.Text; rest != ""; {
		word, tail := next(rest)
		rest = tail
		one, ok, err := parseTerm(word)
		if err != nil {
			return Query{}, err
		}
		if ok {
			q.terms = append(q.terms, one)
		}
	}
	return q, nil
}

// Key returns the query of the word "key:value", where the key is level, source, container, pod or since; without a value, the empty one.
func Key(key, value string) (Query, error) {
	if value == "" {
		return Query{}, nil
	}
	one, err := keys[key](value)
	if err != nil {
		return Query{}, err
	}
	return Query{Text: key + ":" + value, terms: []term{one}}, nil
}

// Pattern returns the query for finding a text: all of it as one word, or one regular expression in slashes.
func Pattern(typed string) (Query, error) {
	if typed == "" {
		return Query{}, nil
	}
	one := word(typed)
	if body, ok := regular(typed); ok {
		var err error
		if one, err = expression(body); err != nil {
			return Query{}, err
		}
	}
	return Query{Text: typed, terms: []term{one}}, nil
}

// next cuts the first word off a query.
func next(s string) (word, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	start := 0
	if strings.HasPrefix(s, "!") {
		start = 1
	}
	if strings.HasPrefix(s[start:], "/") {
		for i := start + 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '/':
				if r, _ := utf8.DecodeRuneInString(s[i+1:]); i+1 == len(s) || unicode.IsSpace(r) {
					return s[:i+1], s[i+1:]
				}
			}
		}
	}
	quoted := false
	for i, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case unicode.IsSpace(r) && !quoted:
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// parseTerm parses a word. ok is false if it says nothing yet, as "!" or "level:" while the user is typing.
func parseTerm(w string) (one term, ok bool, err error) {
	w, not := strings.CutPrefix(w, "!")
	one, ok, err = parseWord(w)
	one.not = not
	return one, ok, err
}

func parseWord(w string) (one term, ok bool, err error) {
	if body, ok := regular(w); ok {
		one, err = expression(body)
		return one, true, err
	}
	if key, value, ok := strings.Cut(w, ":"); ok && keys[key] != nil {
		if value = unquote(value); value == "" {
			return term{}, false, nil
		}
		one, err = keys[key](value)
		return one, true, err
	}
	if m := comparison.FindStringSubmatch(w); m != nil {
		return compare(m[1], m[2], unquote(m[3])), true, nil
	}
	plain := unquote(w)
	return word(plain), plain != "", nil
}

func unquote(s string) string { return strings.ReplaceAll(s, `"`, "") }

// regular returns the regular expression of a word in slashes. A word like "/timeout" is no expression.
func regular(w string) (body string, ok bool) {
	if len(w) < 3 || w[0] != '/' || w[len(w)-1] != '/' {
		return "", false
	}
	return w[1 : len(w)-1], true
}

// keys are the words before a colon that select by a line's origin and time.
var keys = map[string]func(value string) (term, error){
	"level":  levelTerm,
	"source": sourceTerm,
	"container": func(value string) (term, error) {
		return nameTerm(value, func(l logstore.LineRef) string { return l.Container }), nil
	},
	"pod": func(value string) (term, error) {
		return nameTerm(value, func(l logstore.LineRef) string { return l.Pod }), nil
	},
	"since": sinceTerm,
}

func levelTerm(value string) (term, error) {
	for l := logstore.LevelDebug; l <= logstore.LevelError; l++ {
		if strings.HasPrefix(l.String(), strings.ToLower(value)) {
			return term{level: l, leveled: true, test: func(line logstore.LineRef) bool { return line.Level >= l }}, nil
		}
	}
	return term{}, fmt.Errorf("no level is called %q: it is debug, info, warn or error", value)
}

func sourceTerm(value string) (term, error) {
	for name, s := range map[string]logstore.Source{"build": logstore.SourceBuild, "runtime": logstore.SourceRuntime} {
		if strings.HasPrefix(name, strings.ToLower(value)) {
			return term{test: func(line logstore.LineRef) bool { return line.Source == s }}, nil
		}
	}
	return term{}, fmt.Errorf("no source is called %q: it is build or runtime", value)
}

func nameTerm(part string, name func(logstore.LineRef) string) term {
	part = strings.ToLower(part)
	return term{test: func(line logstore.LineRef) bool { return strings.Contains(strings.ToLower(name(line)), part) }}
}

// Since returns the time that the word "since:value" means. The value may also be 0s, which as a word would select nothing.
func Since(value string, now time.Time) (time.Time, error) {
	if d, err := duration(value); err == nil && d == 0 {
		return now, nil
	}
	one, err := sinceTerm(value)
	return one.start(now), err
}

func sinceTerm(value string) (term, error) {
	if d, err := duration(value); err == nil && d > 0 {
		return term{age: d}, nil
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 { // nanoseconds do not reach beyond that
		return term{}, fmt.Errorf("since:%s is not a time such as since:5m or since:2026-01-02T15:04:05Z", value)
	}
	return term{since: t}, nil
}

// duration parses a duration; a bare number is in seconds, and d stands for days.
func duration(s string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Duration(n * float64(time.Second)), nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * 24 * float64(time.Hour)), err
	}
	return time.ParseDuration(s)
}
