package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A file of JSON that people edit has comments, trailing commas and its own layout. It is edited as text, so that all of that stays: the scanner
// finds the members of objects, set inserts or replaces one, and remove takes one out again.

// errObject says that a file cannot be edited.
var errObject = errors.New("it is not an object of JSON")

// member is a member of an object, by its positions in the text. comma is the position of the comma after it, -1 without one.
type member struct {
	key               string
	start, value, end int
	comma             int
}

// object is an object, with the positions of its braces.
type object struct {
	open, close int
	members     []member
}

// scanner reads JSON with comments. The first error stays.
type scanner struct {
	text string
	at   int
}

// space passes white space and comments.
func (s *scanner) space() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.ContainsRune(" \t\r\n\ufeff", rune(rest[0])), strings.HasPrefix(rest, "\ufeff"):
			s.at += max(1, len(rest)-len(strings.TrimPrefix(rest, "\ufeff")))
		case strings.HasPrefix(rest, "//"):
			s.at += lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				s.at = len(s.text)
				return
			}
			s.at += 2 + end + 2
		default:
			return
		}
	}
}

// lineEnd returns the length of the first line, without its break.
func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// next returns the character at the position, 0 at the end.
func (s *scanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// quoted reads a string.
func (s *scanner) quoted() (string, error) {
	if s.next() != '"' {
		return "", errObject
	}
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			var out string
			if err := json.Unmarshal([]byte(s.text[start:s.at]), &out); err != nil {
				return "", errObject
			}
			return out, nil
		}
	}
	return "", errObject
}

// value passes a value.
func (s *scanner) value() error {
	switch c := s.next(); c {
	case '{', '[':
		return s.nested()
	case '"':
		_, err := s.quoted()
		return err
	default:
		start := s.at
		for s.at < len(s.text) && !strings.ContainsRune(" \t\r\n,:{}[]\"/", rune(s.text[s.at])) {
			s.at++
		}
		if s.at == start || !json.Valid([]byte(s.text[start:s.at])) {
			return errObject
		}
		return nil
	}
}

// nested passes an object or a list.
func (s *scanner) nested() error {
	depth := 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			if _, err := s.quoted(); err != nil {
				return err
			}
			continue
		case '/':
			before := s.at
			if s.space(); s.at > before {
				continue
			}
		}
		s.at++
		if depth == 0 {
			return nil
		}
	}
	return errObject
}

// object reads an object at the position.
func (s *scanner) object() (o object, err error) {
	s.space()
	if s.next() != '{' {
		return o, errObject
	}
	o.open = s.at
	s.at++
	for {
		s.space()
		if s.next() == '}' {
			o.close = s.at
			s.at++
			return o, nil
		}
		if n := len(o.members); n > 0 && o.members[n-1].comma < 0 {
			return o, errObject
		}
		m := member{start: s.at, comma: -1}
		if m.key, err = s.quoted(); err != nil {
			return o, err
		}
		if s.space(); s.next() != ':' {
			return o, errObject
		}
		s.at++
		s.space()
		m.value = s.at
		if err := s.value(); err != nil {
			return o, err
		}
		m.end = s.at
		if s.space(); s.next() == ',' {
			m.comma = s.at
			s.at++
		}
		o.members = append(o.members, m)
	}
}

// root reads the object that a file is.
func root(text string) (object, error) {
	s := scanner{text: text}
	o, err := s.object()
	if err != nil {
		return o, err
	}
	if s.space(); s.at < len(s.text) {
		return o, errObject
	}
	return o, nil
}

func (o object) member(key string) (member, bool) {
	for _, m := range o.members {
		if m.key == key {
			return m, true
		}
	}
	return member{}, false
}

// get returns the text of a member of an object in the file; ok is false if there is none.
func get(text, section, name string) (value string, ok bool, err error) {
	o, err := root(text)
	if err != nil {
		return "", false, err
	}
	in, ok := o.member(section)
	if !ok {
		return "", false, nil
	}
	s := scanner{text: text, at: in.value}
	inner, err := s.object()
	if err != nil {
		return "", false, fmt.Errorf("its %q: %w", section, err)
	}
	m, ok := inner.member(name)
	if !ok {
		return "", false, nil
	}
	return text[m.value:m.end], true, nil
}

// set returns a file with a member of an object in it, which it replaces or adds; the object, too, if there is none. An empty file becomes one.
func set(text, section, name string, value any) (string, error) {
	if strings.TrimSpace(text) == "" {
		doc, err := json.MarshalIndent(map[string]any{section: map[string]any{name: value}}, "", "  ")
		return string(doc) + "\n", err
	}
	o, err := root(text)
	if err != nil {
		return "", err
	}
	in, ok := o.member(section)
	if !ok {
		return add(text, o, section, map[string]any{name: value})
	}
	s := scanner{text: text, at: in.value}
	inner, err := s.object()
	if err != nil {
		return "", fmt.Errorf("its %q: %w", section, err)
	}
	m, ok := inner.member(name)
	if !ok {
		return add(text, inner, name, value)
	}
	doc, err := json.Marshal(value)
	if strings.Contains(text[m.value:m.end], "\n") {
		doc, err = json.MarshalIndent(value, indent(text, m.start), unit(text, inner))
	}
	return text[:m.value] + string(doc) + text[m.end:], err
}

// add adds a member at the end of an object, in the layout of the others.
func add(text string, o object, key string, value any) (string, error) {
	name, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	inside := text[o.open+1 : o.close]
	outer := indent(text, o.open)
	if len(o.members) == 0 {
		own := outer + unit(text, o)
		doc, err := json.MarshalIndent(value, own, unit(text, o))
		kept := strings.TrimRight(inside, " \t\r\n")
		return text[:o.open+1] + kept + "\n" + own + string(name) + ": " + string(doc) + "\n" + outer + text[o.close:], err
	}
	last := o.members[len(o.members)-1]
	before, comma, after := text[:last.end], ",", ""
	if last.comma >= 0 {
		before, after = text[:last.comma+1], ","
		comma = ""
	}
	rest := text[len(before):o.close]
	kept := strings.TrimRight(rest, " \t\r\n")
	if !strings.Contains(inside, "\n") {
		doc, err := json.Marshal(value)
		return before + comma + kept + " " + string(name) + ": " + string(doc) + after + rest[len(kept):] + text[o.close:], err
	}
	own := indent(text, last.start)
	doc, err := json.MarshalIndent(value, own, unit(text, o))
	return before + comma + kept + "\n" + own + string(name) + ": " + string(doc) + after + rest[len(kept):] + text[o.close:], err
}

// indent returns the white space at the beginning of the line of a position.
func indent(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unit returns the white space of one level in an object.
func unit(text string, o object) string {
	if len(o.members) > 0 {
		outer, own := indent(text, o.open), indent(text, o.members[0].start)
		if more, ok := strings.CutPrefix(own, outer); ok && more != "" {
			return more
		}
	}
	if strings.Contains(text, "\n\t") {
		return "\t"
	}
	return "  "
}

// remove returns a file without a member of an object in it, and without the object if nothing else is in it. A file without anything else is
// empty.
func remove(text, section, name string) (string, error) {
	if _, ok, err := get(text, section, name); err != nil || !ok {
		return text, err
	}
	o, err := root(text)
	if err != nil {
		return "", err
	}
	at, _ := o.member(section)
	s := scanner{text: text, at: at.value}
	inner, err := s.object()
	if err != nil {
		return "", err
	}
	if m, _ := inner.member(name); len(inner.members) > 1 || comments(text, inner, m) {
		return without(text, inner, name), nil
	}
	if len(o.members) == 1 && !comments(text, o, at) && strings.TrimSpace(text[:o.open]+text[o.close+1:]) == "" {
		return "", nil
	}
	return without(text, o, section), nil
}

// comments reports whether an object has comments beside its only member.
func comments(text string, o object, m member) bool {
	return strings.Trim(text[o.open+1:m.start]+text[m.end:o.close], " \t\r\n,") != ""
}

// without returns a text without one member of an object.
func without(text string, o object, key string) string {
	for i, m := range o.members {
		if m.key != key {
			continue
		}
		start := len(strings.TrimRight(text[:m.start], " \t"))
		if start > 0 && text[start-1] == '\n' {
			start--
		}
		switch {
		case m.comma >= 0:
			return text[:start] + text[m.comma+1:]
		case i > 0:
			comma := o.members[i-1].comma
			return text[:comma] + text[comma+1:start] + text[m.end:]
		}
		return text[:start] + text[m.end:]
	}
	return text
}
