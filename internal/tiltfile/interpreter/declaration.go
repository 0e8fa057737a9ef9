package interpreter

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// written is a call as a file has it: the name of the function, the first line, and the source from there.
type written struct {
	name   string
	first  int
	source []string
}

// Declaration describes a call that has shaped a resource: where it stands, its source, and for a call in a loaded file or in
// a function, which line of the root Tiltfile led to it. For a call by an extension that is part of hone, it is the call of
// the extension.
func (i *Interpreter) Declaration(c fault.Call) model.Declaration {
	d := model.Declaration{Call: c.Name, File: c.Site.File, Line: c.Site.Line, From: i.from(c.Site)}
	w, ok := i.writtenIn(c.Site.File)[[2]int{c.Site.Line, c.Site.Col}]
	if !ok {
		return d
	}
	d.Line, d.Source = w.first, slices.Clone(w.source)
	if w.name != "" {
		d.Call = w.name
	}
	return d
}

// from returns the line of the root Tiltfile that led to a call, 0 for a call that stands there outside of functions.
func (i *Interpreter) from(at fault.Site) int {
	if at.Calls == nil {
		return 0
	}
	stack := *at.Calls
	for n := range len(stack) {
		pos := stack.At(n).Pos
		if !fault.InProgram(pos) || pos.Filename() != i.Main {
			continue
		}
		if line := int(pos.Line); line != at.Line || at.File != i.Main {
			return line
		}
	}
	return 0
}

// writtenIn returns the calls in a file that was executed, by the line and column of their opening parentheses.
func (i *Interpreter) writtenIn(path string) map[[2]int]written {
	if known, ok := i.written[path]; ok {
		return known
	}
	calls := map[[2]int]written{}
	i.written[path] = calls
	text, ok := i.Texts[path]
	if !ok {
		return calls
	}
	f, err := dialect.Options.Parse(path, text, 0)
	if err != nil {
		return calls
	}
	lines := strings.Split(fault.UnixLines(text), "\n")
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			start, end := c.Span()
			first := max(1, int(start.Line))
			last := min(int(end.Line), first+model.MostSource-1, len(lines))
			calls[[2]int{int(c.Lparen.Line), int(c.Lparen.Col)}] = written{nameOf(c.Fn), first, lines[first-1 : max(last, first-1)]}
		}
		return true
	})
	return calls
}

// nameOf returns the name of a function as the source has it: "k8s_yaml", "v1alpha1.cmd". It is empty for an expression.
func nameOf(fn syntax.Expr) string {
	switch fn := fn.(type) {
	case *syntax.Ident:
		return fn.Name
	case *syntax.DotExpr:
		if of := nameOf(fn.X); of != "" {
			return of + "." + fn.Name.Name
		}
	}
	return ""
}
