package logquery

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/logline"
)

var comparison = regexp.MustCompile(`^([A-Za-z_@][A-Za-z0-9_.@-]*)(>=|<=|!=|=|>|<)(.+)$`)

// compare returns a term that compares a field of a JSON or logfmt line with a value, as numbers or durations if both are.
// "name=value" also matches lines that contain exactly that.
func compare(name, operator, value string) term {
	name = strings.ToLower(name)
	literal, key := fold(name+operator+value), fold(lastPart(name))
	return term{test: inText(func(line []byte) bool {
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
	}), mark: literal.all}
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
		if after = bytes.TrimLeft(after[1:], " "); len(after) > 0 && strings.IndexByte(`"{[`, after[0]) >= 0 {
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
