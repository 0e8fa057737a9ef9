package lsp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// dialect is the Starlark dialect of Tiltfiles.
var dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// fault is an error or a warning between two offsets of a text.
type fault struct {
	from, to int
	severity int
	text     string
}

// publish sends the errors and warnings of a document to the editor.
func (s *server) publish(d *document) error {
	s.files.link(d)
	list := []diagnostic{}
	for _, f := range s.files.diagnose(d) {
		list = append(list, diagnostic{Range: d.span(f.from, f.to, s.encoding), Severity: f.severity, Source: "hone", Message: f.text})
	}
	return s.notify("textDocument/publishDiagnostics", publishDiagnostics{URI: d.uri, Version: d.version, Diagnostics: list})
}

// diagnose finds the errors and warnings of a document. A text that cannot be parsed has only that error.
func (w *workspace) diagnose(d *document) []fault {
	p, err := d.program()
	if err != nil {
		return []fault{syntaxFault(d, err)}
	}
	faults := undefined(p)
	faults = append(faults, w.loadFaults(d)...)
	faults = append(faults, w.memberFaults(p)...)
	syntax.Walk(p.file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			faults = append(faults, callFaults(d, call)...)
		}
		return true
	})
	slices.SortStableFunc(faults, func(a, b fault) int { return a.from - b.from })
	return faults
}

// syntaxFault returns the error of the parser with its place. For a bracket that is never closed, the place is that
// bracket, since the parser notices only at the end.
func syntaxFault(d *document, err error) fault {
	var at syntax.Error
	if !errors.As(err, &at) {
		return fault{0, 0, severityError, err.Error()}
	}
	from := offsetOf(d, at.Pos)
	if strings.Contains(at.Msg, "end of file") || from >= len(strings.TrimRight(d.text, " \t\r\n")) {
		o := d.outline()
		for i := len(o.tokens) - 1; i >= 0; i-- {
			if o.match[i] < 0 && o.is(i, "(", "[", "{") {
				return fault{o.tokens[i].start, o.tokens[i].end, severityError, fmt.Sprintf("%q is never closed", o.word(i))}
			}
		}
	}
	return fault{from, tokenEnd(d, from), severityError, at.Msg}
}

// offsetOf returns the offset of a position of the parser, whose columns count code points from 1.
func offsetOf(d *document, p syntax.Position) int {
	if p.Line < 1 {
		return 0
	}
	if int(p.Line) > len(d.lines) {
		return len(d.text)
	}
	at := d.lines[p.Line-1]
	for range max(0, int(p.Col)-1) {
		if at >= len(d.text) || d.text[at] == '\n' {
			break
		}
		_, size := utf8.DecodeRuneInString(d.text[at:])
		at += size
	}
	return at
}

// tokenEnd returns the end of the token at a place, or of the character if there is no token.
func tokenEnd(d *document, from int) int {
	if i, touching := d.outline().tokenAt(from + 1); touching {
		t := d.outline().tokens[i]
		if t.kind == tokenString && from >= t.inner {
			return max(from, t.innerEnd)
		}
		return t.end
	}
	if from < len(d.text) && d.text[from] != '\n' {
		_, size := utf8.DecodeRuneInString(d.text[from:])
		return from + size
	}
	return from
}

// undefined finds undefined names, and other errors of the resolver.
func undefined(p *program) []fault {
	d := p.doc
	var list resolve.ErrorList
	if !errors.As(p.refused, &list) {
		return nil
	}
	var out []fault
	for _, e := range list {
		from := offsetOf(d, e.Pos)
		msg := e.Msg
		if name, ok := strings.CutPrefix(msg, "undefined: "); ok && !strings.Contains(name, " ") {
			msg += didYouMean(name, names(d.outline().visible(from)))
		}
		out = append(out, fault{from, tokenEnd(d, from), severityError, msg})
	}
	return out
}

// names returns the names of definitions and of the language.
func names(defs []*definition) []string {
	var out []string
	for _, d := range defs {
		out = append(out, d.name)
	}
	for _, e := range language.Members("") {
		out = append(out, e.Name)
	}
	return out
}

func didYouMean(name string, candidates []string) string {
	if n := suggest.Nearest(name, candidates); n != "" {
		return fmt.Sprintf(" (did you mean %s?)", n)
	}
	return ""
}

// callFaults checks the arguments of a call of the language.
func callFaults(d *document, call *syntax.CallExpr) []fault {
	e := calledEntry(call.Fn)
	if e == nil {
		return nil
	}
	var out []fault
	for _, arg := range call.Args {
		id, _ := keywordArgument(arg)
		if id == nil {
			continue
		}
		if _, known := e.Param(id.Name); known {
			continue
		}
		from := offsetOf(d, id.NamePos)
		out = append(out, fault{from, from + len(id.Name), severityError, unknownKeyword(e, id.Name)})
	}
	return out
}

func unknownKeyword(e *language.Entry, name string) string {
	var takes []string
	for _, p := range e.Params {
		if p.Keyword() {
			takes = append(takes, p.Name)
		}
	}
	hint := didYouMean(name, takes)
	switch {
	case hint != "":
	case len(takes) == 0:
		hint = " (it takes none by name)"
	default:
		hint = " (it takes " + strings.Join(takes, ", ") + ")"
	}
	return fmt.Sprintf("%s has no argument %s%s", e.Name, name, hint)
}

// calledEntry returns the function of the language that an expression names; nil for anything else, such as a name that
// the text defines itself.
func calledEntry(fn syntax.Expr) *language.Entry {
	name := ""
	for {
		switch x := fn.(type) {
		case *syntax.DotExpr:
			name = "." + x.Name.Name + name
			fn = x.X
			continue
		case *syntax.Ident:
			if _, ok := predeclared(x); !ok {
				return nil
			}
			if e := language.Lookup(x.Name + name); e.Is(language.Function) {
				return e
			}
		}
		return nil
	}
}

// loadFaults checks that loaded files and names exist. The results are warnings, since a file may be created while the
// Tiltfile runs. Extensions that are not on this machine are not checked.
func (w *workspace) loadFaults(d *document) []fault {
	var out []fault
	for _, l := range d.outline().loads {
		file := w.loadedBy(d, l.file)
		if file == nil {
			if path := w.resolve(d, l.file); path != "" {
				out = append(out, fault{l.token.start, l.token.end, severityWarning, fmt.Sprintf("%s cannot be loaded: there is no such file", path)})
			}
			continue
		}
		for _, n := range l.names {
			defs := file.outline().exports()
			if strings.HasPrefix(n.remote, "_") {
				continue // the resolver reports that it cannot be loaded
			}
			if !slices.ContainsFunc(defs, func(e *definition) bool { return e.name == n.remote }) {
				hint := didYouMean(n.remote, exportNames(defs))
				out = append(out, fault{n.token.start, n.token.end, severityWarning, fmt.Sprintf("%q does not define %s%s", l.file, n.remote, hint)})
			}
		}
	}
	return out
}

func exportNames(defs []*definition) []string {
	var out []string
	for _, d := range defs {
		out = append(out, d.name)
	}
	return out
}
