package lsp

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/bazelbuild/buildtools/build"
	"go.starlark.net/syntax"
)

// formatting returns the edit that formats a document. For a text that cannot be parsed, it returns an error with the
// place where parsing failed.
func (s *server) formatting(p documentParams) (any, error) {
	d, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	text, err := format(d)
	if err != nil {
		return nil, &responseError{codeRequestFailed, err.Error()}
	}
	from, to, replacement := difference(d.text, text)
	if from == to && replacement == "" {
		return []textEdit{}, nil
	}
	return []textEdit{{Range: d.span(from, to, s.encoding), NewText: replacement}}, nil
}

// format returns a document's text in the standard layout of Starlark tools. It checks that the program stays the same,
// since the formatter has its own parser.
func format(d *document) (string, error) {
	before, err := dialect.Parse(d.path, d.text, 0)
	if err != nil {
		f := syntaxFault(d, err)
		return "", fmt.Errorf("cannot format: %s: %s", d.lineOf(f.from), f.text)
	}
	text, loop := formattable(d.outline())
	parsed, err := build.ParseDefault(d.path, []byte(strings.ReplaceAll(text, "\r\n", "\n")))
	if err != nil {
		return "", unformattable(err)
	}
	out := strings.ReplaceAll(string(build.FormatWithoutRewriting(parsed)), loop, "while ")
	after, err := dialect.Parse(d.path, out, 0)
	if err != nil || !sameProgram(before.Stmts, after.Stmts) {
		return "", errors.New("cannot format: the program would change")
	}
	if !slices.Equal(d.outline().commentTexts(), newOutline(out).commentTexts()) {
		return "", errors.New("cannot format: a comment would be lost")
	}
	if strings.Contains(d.text, "\r\n") {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return out, nil
}

// commentTexts returns the trimmed comments, sorted: formatting may move a comment past a comma.
func (o *outline) commentTexts() []string {
	var out []string
	for _, t := range o.comments {
		out = append(out, strings.TrimSpace(o.text[t.start:t.end]))
	}
	slices.Sort(out)
	return out
}

// formattable returns a text of the same layout that the formatter can parse, since it supports neither while nor tabs.
// Each while becomes a for with the unique beginning loop, and indentation becomes spaces.
func formattable(o *outline) (text, loop string) {
	name := "while_"
	for strings.Contains(o.text, name) {
		name += "_"
	}
	loop = "for " + name + " in "
	var b strings.Builder
	indent := true
	from := 0
	for i, t := range o.tokens {
		gap := o.text[from:t.start]
		if indent || strings.Contains(gap, "\n") {
			gap = spaced(gap)
		}
		b.WriteString(gap)
		if o.is(i, "while") {
			b.WriteString(loop)
		} else {
			b.WriteString(o.text[t.start:t.end])
		}
		from, indent = t.end, t.kind == tokenNewline
	}
	return b.String() + o.text[from:], loop
}

// tabStop is the tab width of the interpreter's indentation: a tab advances to the next multiple.
const tabStop = 8

// spaced returns the white space and comments before a statement with the tabs at the beginning of each line replaced by spaces.
func spaced(gap string) string {
	lines := strings.Split(gap, "\n")
	for i, line := range lines {
		bare := strings.TrimLeft(line, " \t")
		width := 0
		for _, c := range line[:len(line)-len(bare)] {
			width++
			if c == '\t' {
				width = (width + tabStop - 1) / tabStop * tabStop
			}
		}
		lines[i] = strings.Repeat(" ", width) + bare
	}
	return strings.Join(lines, "\n")
}

// lineOf formats a place for messages.
func (d *document) lineOf(at int) string {
	p := d.position(at, utf16Units)
	return fmt.Sprintf("line %d, column %d", p.Line+1, p.Character+1)
}

// unformattable returns the error for a text that the formatter cannot parse, although the interpreter can.
func unformattable(err error) error {
	var at build.ParseError
	if errors.As(err, &at) {
		return fmt.Errorf("cannot format: line %d: %s", at.Pos.Line, at.Message)
	}
	return fmt.Errorf("cannot format: %w", err)
}

// positionType is the type that sameProgram ignores: formatting changes positions.
var positionType = reflect.TypeFor[syntax.Position]()

// sameProgram reports whether two programs mean the same: they may differ in places, brackets around expressions, comments,
// and how literals are written, but not in anything else.
func sameProgram(a, b []syntax.Stmt) bool { return sameNode(reflect.ValueOf(a), reflect.ValueOf(b)) }

// sameNode compares two nodes field by field, except positions, unexported fields and the spelling of literals (Raw).
func sameNode(a, b reflect.Value) bool {
	a, b = plainNode(a), plainNode(b)
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			field := a.Type().Field(i)
			passedOver := field.Type == positionType || !field.IsExported() || field.Name == "Raw"
			if !passedOver && !sameNode(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameNode(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// plainNode follows pointers, interfaces and brackets to the node; the zero Value means none.
func plainNode(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		switch node := v.Interface().(type) {
		case *syntax.ParenExpr:
			v = reflect.ValueOf(node.X)
		case *big.Int:
			return reflect.ValueOf(node.String())
		default:
			v = v.Elem()
		}
	}
	return v
}

// difference returns the range of lines in which a differs from b, and the replacement from b.
func difference(a, b string) (from, to int, replacement string) {
	for {
		i := strings.IndexByte(a[from:], '\n') + 1
		if i == 0 || !strings.HasPrefix(b[from:], a[from:from+i]) {
			break
		}
		from += i
	}
	to = len(a)
	end := len(b)
	for {
		line := a[from:to]
		i := strings.LastIndexByte(strings.TrimSuffix(line, "\n"), '\n') + 1
		if line == "" || !strings.HasSuffix(b[from:end], line[i:]) {
			break
		}
		if rest := end - len(line[i:]); rest > from && b[rest-1] != '\n' {
			break
		}
		to, end = to-len(line[i:]), end-len(line[i:])
	}
	return from, to, b[from:end]
}
