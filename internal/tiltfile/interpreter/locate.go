package interpreter

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/hint"
)

// Locate converts the error of an evaluation to a *fault.Error, or to fault.Errors where several errors are joined.
func (i *Interpreter) Locate(err error) error {
	if err == nil {
		return nil
	}
	list := i.locateAll(err)
	if len(list) == 1 {
		return list[0]
	}
	slices.SortStableFunc(list, func(a, b *fault.Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return fault.Errors(list)
}

// locateAll finds the place of an error: the innermost one in its chain of causes. For a loaded file, it adds the place
// of the call.
func (i *Interpreter) locateAll(err error) []*fault.Error {
	found := []*fault.Error{i.Unplaced(err)}
	var outer *starlark.EvalError
	for e := err; e != nil; {
		switch e := e.(type) { //nolint:errorlint // the loop walks the chain
		case *fault.Error:
			return fromCall(i.Sources, []*fault.Error{e}, outer)
		case *starlark.EvalError:
			if outer == nil {
				outer = e
			}
			found = []*fault.Error{i.locateEval(e)}
		case syntax.Error:
			found = []*fault.Error{i.locateSyntax(e)}
		case resolve.ErrorList:
			found = i.locateResolve(e)
		}
		several, ok := e.(interface{ Unwrap() []error })
		if _, args := e.(*eval.ArgumentsError); !ok || args { //nolint:errorlint // the loop walks the chain
			e = errors.Unwrap(e)
			continue
		}
		found = nil
		for _, one := range several.Unwrap() {
			found = append(found, i.locateAll(one)...)
		}
		break
	}
	return fromCall(i.Sources, found, outer)
}

// fromCall adds the line of the root Tiltfile that led there to errors in a loaded file.
func fromCall(s *fault.Sources, found []*fault.Error, outer *starlark.EvalError) []*fault.Error {
	for _, e := range found {
		if outer != nil && e.File != s.Main {
			e.CalledFrom = s.CalledFrom(outer.CallStack)
		}
	}
	return found
}

func (i *Interpreter) locateEval(e *starlark.EvalError) *fault.Error {
	at := fault.Innermost(e.CallStack)
	var args *eval.ArgumentsError
	var marks []fault.Mark
	if errors.As(e.Unwrap(), &args) && at == fault.Caller(e.CallStack) {
		at, marks = i.markArgs(at, args)
	}
	if at.File == "" {
		at.File = i.Main
	}
	found := i.Placed(at, strings.TrimPrefix(e.Msg, "Starlark computation cancelled: "), e.Unwrap())
	found.Marks = marks
	found.Backtrace, _, _ = strings.Cut(e.Backtrace(), "\nError")
	if !i.isBuiltin(e.CallStack.At(0).Name) {
		found.Mend = hint.Runtime(e.Msg)
	}
	return found
}

// markArgs finds the wrong arguments. The first one is the place of the error; several are marked one by one.
func (i *Interpreter) markArgs(call fault.Site, e *eval.ArgumentsError) (fault.Site, []fault.Mark) {
	marks := make([]fault.Mark, len(e.Faults))
	for n, f := range e.Faults {
		at := argSite(call.File, i.Texts[call.File], call, f.At)
		marks[n] = fault.Mark{Line: at.Line, Col: at.Col, Text: i.Line(at), Msg: f.Err.Error()}
	}
	sortMarks(marks)
	first := fault.Site{File: call.File, Line: marks[0].Line, Col: marks[0].Col}
	if len(marks) == 1 {
		return first, nil
	}
	return first, marks
}

func sortMarks(marks []fault.Mark) {
	slices.SortStableFunc(marks, func(a, b fault.Mark) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) })
}

// locateResolve places errors in names. An unknown name is reported once.
func (i *Interpreter) locateResolve(list resolve.ErrorList) []*fault.Error {
	var out []*fault.Error
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.Msg] {
			continue
		}
		seen[e.Msg] = true
		at := fault.SiteOf(e.Pos)
		found := i.Placed(at, e.Msg, nil)
		if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok && !strings.Contains(name, " ") {
			found.Msg, found.Mend = hint.Undefined(at.File, i.Texts[at.File], name, i.isBuiltin, i.Predeclared.Keys())
		} else {
			found.Msg, found.Mend = hint.Resolve(e.Msg)
		}
		out = append(out, found)
	}
	return out
}

// locateSyntax places a syntax error and explains it in plain words.
func (i *Interpreter) locateSyntax(e syntax.Error) *fault.Error {
	x := hint.Syntax(i.Texts[e.Pos.Filename()], e)
	found := i.Placed(fault.Site{File: e.Pos.Filename(), Line: x.Line, Col: x.Col}, x.Msg, nil)
	found.Mend = x.Mend
	return found
}
