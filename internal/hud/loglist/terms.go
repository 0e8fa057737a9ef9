package loglist

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
)

// Terms are a parsed filter: words that must all match. A word matches a part of the text as it is seen, regardless of
// letter case. "quoted words" may contain blanks, /…/ is a regular expression, !word excludes. level:, source:, container:,
// pod: and since: select by the origin and time of a line, and name>=value compares a field of a JSON or logfmt line.
type Terms struct {
	// Text is the term as it was typed.
	Text  string
	terms []term
}

// term is one word of a filter.
type term struct {
	not bool
	// Exactly one of the following decides. in looks at the text, where at the origin of a line.
	in        func(line []byte) bool
	level     logstore.Level
	source    logstore.Source
	container string
	pod       string
	since     time.Duration
	kind      termKind
	// mark finds the parts of a line to highlight; nil if there are none.
	mark func(line string) [][]int
}

type termKind uint8

const (
	inText termKind = iota
	byLevel
	bySource
	byContainer
	byPod
	bySince
)

// Empty reports whether the terms select every line.
func (t Terms) Empty() bool { return len(t.terms) == 0 }

// Parse parses a filter. The error says which word is wrong.
func Parse(typed string) (Terms, error) {
	t := Terms{Text: strings.TrimSpace(typed)}
	for rest := t.Text; rest != ""; {
		word, tail := next(rest)
		rest = tail
		one, err := parseTerm(word)
		if err != nil {
			return Terms{}, err
		}
		if one != nil {
			t.terms = append(t.terms, *one)
		}
	}
	return t, nil
}

// Pattern returns terms for finding: the whole text as one word, or one regular expression in slashes.
func Pattern(typed string) (Terms, error) {
	if typed == "" {
		return Terms{}, nil
	}
	body, ok := regular(typed)
	if !ok {
		return Terms{Text: typed, terms: []term{word(typed)}}, nil
	}
	one, err := expression(body)
	if err != nil {
		return Terms{}, err
	}
	return Terms{Text: typed, terms: []term{one}}, nil
}

// Marks returns the byte ranges of a line without escape sequences that the terms match, for highlighting.
func (t Terms) Marks(line string) [][]int {
	var all [][]int
	for _, one := range t.terms {
		if one.mark != nil && !one.not {
			all = append(all, one.mark(line)...)
		}
	}
	slices.SortFunc(all, func(a, b []int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return all
}

// window returns how far back lines are selected; zero if the terms do not say.
func (t Terms) window() time.Duration {
	var least time.Duration
	for _, one := range t.terms {
		if one.kind == bySince && !one.not && (least == 0 || one.since < least) {
			least = one.since
		}
	}
	return least
}

// delay returns how old lines must be to be selected; zero if the terms do not say.
func (t Terms) delay() time.Duration {
	var most time.Duration
	for _, one := range t.terms {
		if one.kind == bySince && one.not {
			most = max(most, one.since)
		}
	}
	return most
}

// narrow adds the terms that the store can check to a filter, and returns the test of the rest; nil if nothing is left to test. Terms that let
// lines through only when they are old enough are not tested: the list waits with these lines.
func (t Terms) narrow(f *logstore.Filter, now time.Time) func(logstore.LineRef) bool {
	var checks []term
	for _, one := range t.terms {
		switch one.kind {
		case byLevel:
			if !one.not {
				f.MinLevel = max(f.MinLevel, one.level)
				continue
			}
		case bySince:
			if at := now.Add(-one.since); !one.not && at.After(f.Since) {
				f.Since = at
			}
			continue
		case inText, bySource, byContainer, byPod:
		}
		checks = append(checks, one)
	}
	if len(checks) == 0 {
		return nil
	}
	return func(line logstore.LineRef) bool {
		line.Text = seen(line.Text)
		for _, t := range checks {
			if t.matches(line) == t.not {
				return false
			}
		}
		return true
	}
}

// matches tests a line whose text has no escape sequences.
func (t term) matches(line logstore.LineRef) bool {
	switch t.kind {
	case byLevel:
		return line.Level >= t.level
	case bySource:
		return line.Source == t.source
	case byContainer:
		return strings.Contains(strings.ToLower(line.Container), t.container)
	case byPod:
		return strings.Contains(strings.ToLower(line.Pod), t.pod)
	case inText, bySince:
	}
	return t.in(line.Text)
}

// seen returns a line as it is seen.
func seen(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 && bytes.IndexByte(line, '\r') < 0 {
		return line
	}
	return []byte(text.CleanTabs(string(line)))
}

// next cuts the first word off a filter.
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

// parseTerm parses a word; nil if it says nothing yet, as "!" or "level:" while the user is typing.
func parseTerm(w string) (*term, error) {
	w, not := strings.CutPrefix(w, "!")
	one, err := parseWord(w)
	if err != nil || one == nil {
		return nil, err
	}
	one.not = not
	return one, nil
}

func parseWord(w string) (*term, error) {
	if w == "" || w == `"` {
		return nil, nil
	}
	if body, ok := regular(w); ok {
		one, err := expression(body)
		return &one, err
	}
	if key, value, ok := strings.Cut(w, ":"); ok {
		if one, known, err := parseKey(key, unquote(value)); known {
			return one, err
		}
	}
	if m := comparison.FindStringSubmatch(w); m != nil {
		one := compare(m[1], m[2], unquote(m[3]))
		return &one, nil
	}
	plain := unquote(w)
	if plain == "" {
		return nil, nil
	}
	one := word(plain)
	return &one, nil
}

func unquote(s string) string { return strings.ReplaceAll(s, `"`, "") }

// regular returns the regular expression of a word in slashes. A word like "/timeout" is no expression.
func regular(w string) (body string, ok bool) {
	if len(w) < 3 || w[0] != '/' || w[len(w)-1] != '/' {
		return "", false
	}
	return w[1 : len(w)-1], true
}

func parseKey(key, value string) (one *term, known bool, err error) {
	switch key {
	case "level":
		if value == "" {
			return nil, true, nil
		}
		for l := logstore.LevelDebug; l <= logstore.LevelError; l++ {
			if strings.HasPrefix(l.String(), strings.ToLower(value)) {
				return &term{kind: byLevel, level: l}, true, nil
			}
		}
		return nil, true, fmt.Errorf("no level is called %q: it is debug, info, warn or error", value)
	case "source":
		for name, s := range map[string]logstore.Source{"build": logstore.SourceBuild, "runtime": logstore.SourceRuntime} {
			if value != "" && strings.HasPrefix(name, strings.ToLower(value)) {
				return &term{kind: bySource, source: s}, true, nil
			}
		}
		if value == "" {
			return nil, true, nil
		}
		return nil, true, fmt.Errorf("no source is called %q: it is build or runtime", value)
	case "container", "pod":
		if value == "" {
			return nil, true, nil
		}
		one := term{kind: byContainer, container: strings.ToLower(value)}
		if key == "pod" {
			one = term{kind: byPod, pod: strings.ToLower(value)}
		}
		return &one, true, nil
	case "since":
		if value == "" {
			return nil, true, nil
		}
		d, err := duration(value)
		if err != nil || d <= 0 {
			return nil, true, fmt.Errorf("since:%s is not a time such as since:5m", value)
		}
		return &term{kind: bySince, since: d}, true, nil
	}
	return nil, false, nil
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

// word returns a term for a part of the text.
func word(s string) term {
	f := fold(s)
	return term{in: f.in, mark: f.all}
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
	return term{in: in, mark: func(line string) [][]int {
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

var comparison = regexp.MustCompile(`^([A-Za-z_@][A-Za-z0-9_.@-]*)(>=|<=|!=|=|>|<)(.+)$`)

// compare returns a term that compares a field of a JSON or logfmt line with a value, as numbers or durations if both are.
// "name=value" also matches lines that contain exactly that.
func compare(name, operator, value string) term {
	name = strings.ToLower(name)
	literal, key := fold(name+operator+value), fold(lastPart(name))
	return term{in: func(line []byte) bool {
		if operator == "=" && literal.in(line) {
			return true
		}
		switch may, sure := inPlain(line, key, operator, value); {
		case !may: // most lines: do not take them apart
			return false
		case sure && key.len() == len(name):
			return true
		}
		fields, ok := logline.Fields(string(line))
		if !ok {
			return false
		}
		for _, f := range fields {
			key := strings.ToLower(f.Key)
			if (key == name || strings.HasSuffix(key, "."+name)) && holds(f.Value, operator, value) {
				return true
			}
		}
		return false
	}, mark: literal.all}
}

// inPlain judges a comparison by the text behind the field's name: whether it may hold, and whether it surely does,
// since "name=value" stands there between other words.
func inPlain(line []byte, key folded, operator, value string) (may, sure bool) {
	for at := 0; ; {
		i := key.index(line[at:])
		if i < 0 {
			return may, false
		}
		word := at+i == 0 || line[at+i-1] == ' ' || line[at+i-1] == '\t'
		at += i + key.len()
		after := bytes.TrimLeft(bytes.TrimPrefix(line[at:], []byte(`"`)), " ")
		if len(after) == 0 || after[0] != '=' && after[0] != ':' {
			continue
		}
		plain := after[0] == '=' && line[at] == '='
		if after = bytes.TrimLeft(after[1:], " "); len(after) > 0 && (after[0] == '"' || after[0] == '{' || after[0] == '[') {
			may = true // the value may contain anything
			continue
		}
		end := bytes.IndexAny(after, " ,}]\t")
		if end < 0 {
			end = len(after)
		}
		if holds(string(after[:end]), operator, value) {
			if may = true; plain && word {
				return true, true
			}
		}
	}
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func holds(is, operator, value string) bool {
	order := strings.Compare(strings.ToLower(is), strings.ToLower(value))
	a, okA := quantity(is)
	b, okB := quantity(value)
	switch {
	case okA && okB:
		order = cmp.Compare(a, b)
	case operator != "=" && operator != "!=":
		return false
	}
	switch operator {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	}
	return order <= 0
}

// quantity reads a number or a duration, the latter in seconds.
func quantity(s string) (float64, bool) {
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return n, true
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d.Seconds(), true
	}
	return 0, false
}
