package tiltfile

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// locate turns what an evaluation failed with into an *Error, or into Errors where several errors are joined.
func (i *interpreter) locate(err error) error {
	if err == nil {
		return nil
	}
	list := i.locateAll(err)
	if len(list) == 1 {
		return list[0]
	}
	slices.SortStableFunc(list, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return Errors(list)
}

// locateAll finds the place of an error: the innermost that its chain of causes knows. What the calls on the way there
// know is added: from where a loaded file was called.
func (i *interpreter) locateAll(err error) []*Error {
	found := []*Error{i.unplaced(err)}
	var outer *starlark.EvalError
	for e := err; e != nil; {
		switch e := e.(type) {
		case *Error:
			return fromCall(i.sources, []*Error{e}, outer)
		case *starlark.EvalError:
			if outer == nil {
				outer = e
			}
			found = []*Error{i.locateEval(e)}
		case syntax.Error:
			found = []*Error{i.locateSyntax(e)}
		case resolve.ErrorList:
			found = i.locateResolve(e)
		}
		several, ok := e.(interface{ Unwrap() []error })
		if _, args := e.(*argsError); !ok || args {
			e = errors.Unwrap(e)
			continue
		}
		found = nil
		for _, one := range several.Unwrap() {
			found = append(found, i.locateAll(one)...)
		}
		break
	}
	return fromCall(i.sources, found, outer)
}

// fromCall adds to errors in a loaded file which line of the root Tiltfile led there.
func fromCall(s *sources, found []*Error, outer *starlark.EvalError) []*Error {
	for _, e := range found {
		if outer != nil && e.File != s.main {
			e.CalledFrom = s.calledFrom(outer.CallStack)
		}
	}
	return found
}

func (i *interpreter) locateEval(e *starlark.EvalError) *Error {
	at := innermost(e.CallStack)
	var args *argsError
	var marks []Mark
	if errors.As(e.Unwrap(), &args) && at == caller(e.CallStack) {
		at, marks = i.markArgs(at, args)
	}
	if at.file == "" {
		at.file = i.main
	}
	found := i.placed(at, strings.TrimPrefix(e.Msg, "Starlark computation cancelled: "), e.Unwrap())
	found.Marks = marks
	found.Backtrace, _, _ = strings.Cut(e.Backtrace(), "\nError")
	if !i.isBuiltin(e.CallStack.At(0).Name) {
		found.Mend = explainRuntime(e.Msg)
	}
	return found
}

// markArgs finds the arguments at fault. The error is where the first of them is; several are marked one by one.
func (i *interpreter) markArgs(call site, e *argsError) (site, []Mark) {
	marks := make([]Mark, len(e.faults))
	for n, f := range e.faults {
		at := argSite(call.file, i.texts[call.file], call, f.at)
		marks[n] = Mark{Line: at.line, Col: at.col, Text: i.line(at), Msg: f.err.Error()}
	}
	sortMarks(marks)
	first := site{file: call.file, line: marks[0].Line, col: marks[0].Col}
	if len(marks) == 1 {
		return first, nil
	}
	return first, marks
}

func sortMarks(marks []Mark) {
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col)) })
}

// locateResolve places what is wrong with names: each that is not known is reported once.
func (i *interpreter) locateResolve(list resolve.ErrorList) []*Error {
	var out []*Error
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.Msg] {
			continue
		}
		seen[e.Msg] = true
		at := siteOf(e.Pos)
		found := i.placed(at, e.Msg, nil)
		if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok && !strings.Contains(name, " ") {
			found.Msg, found.Mend = explainUndefined(at.file, i.texts[at.file], name, i.isBuiltin, i.predeclared.Keys())
		} else {
			found.Msg, found.Mend = explainResolve(e.Msg)
		}
		out = append(out, found)
	}
	return out
}

// locateSyntax places a syntax error and says it in plain words.
func (i *interpreter) locateSyntax(e syntax.Error) *Error {
	x := explainSyntax(i.texts[e.Pos.Filename()], e)
	found := i.placed(site{file: e.Pos.Filename(), line: x.line, col: x.col}, x.msg, nil)
	found.Mend = x.mend
	return found
}
