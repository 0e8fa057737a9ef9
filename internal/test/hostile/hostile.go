// Package hostile provides text that tries to take over the terminal that shows it, for tests of everything that shows foreign
// text.
package hostile

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Kinds are escape sequences, one of each kind, by their effect on a terminal that obeys them.
var Kinds = map[string]string{
	"clipboard":     "\x1b]52;c;cm0gLXJm\x07",
	"title":         "\x1b]2;owned\x1b\\",
	"link":          "\x1b]8;;http://bad.example\x1b\\",
	"message":       "\x1b]777;notify;a;b\x07",
	"palette":       "\x1b]4;1;?\x07",
	"reset":         "\x1bc",
	"erase":         "\x1b[2J",
	"cursor":        "\x1b[1;1H",
	"screen":        "\x1b[?1049h",
	"question":      "\x1b[6n",
	"window":        "\x1b[8;1;1t",
	"keys":          "\x1b[>4;2m",
	"device":        "\x1bP$q\"p\x1b\\",
	"application":   "\x1b_Gq\x1b\\",
	"charset":       "\x1b(0",
	"hidden colour": "\x1b[8m",
	"C1":            "\u009b2J\u009d2;owned\u009c",
	"bare controls": "\x00\a\b\x0e\x7f",
	"direction":     "\u202e",
}

// All has a sequence of each kind.
func All() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(Kinds)) {
		b.WriteString(Kinds[kind])
	}
	return b.String()
}

var (
	colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	hidden = regexp.MustCompile(`\x1b\[([0-9]+;)*8(;[0-9]+)*m`)
	obeyed = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]")
)

// Found returns the first part of a text that a terminal would obey, apart from colours; empty if there is none.
func Found(s string) string {
	if h := hidden.FindString(s); h != "" && !strings.Contains(h, "38;") && !strings.Contains(h, "48;") {
		return h
	}
	at := obeyed.FindStringIndex(colour.ReplaceAllString(s, ""))
	if at == nil {
		return ""
	}
	s = colour.ReplaceAllString(s, "")
	return s[at[0]:min(at[0]+40, len(s))]
}

// Fill puts a text in front of each text of a value, at any depth. It skips texts of named types, which are keys to other values. v
// is a pointer.
func Fill(v any, text string) { fill(reflect.ValueOf(v), text) }

func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(k))
			fill(value, text)
			v.SetMapIndex(k, value)
		}
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() && !strings.HasPrefix(v.String(), text) {
			v.SetString(text + v.String())
		}
	}
}
