package tiltfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// locate turns what an evaluation failed with into an *Error, or into Errors where several errors are joined.
func (s *state) locate(err error) error {
	if err == nil {
		return nil
	}
	list := s.locateAll(err)
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
func (s *state) locateAll(err error) []*Error {
	found := []*Error{{File: s.main, Msg: err.Error(), cause: err, debug: s.opts.Debug}}
	var outer *starlark.EvalError
	for e := err; e != nil; {
		switch e := e.(type) {
		case *Error:
			return fromCall(s, []*Error{e}, outer)
		case *starlark.EvalError:
			if outer == nil {
				outer = e
			}
			found = []*Error{s.locateEval(e)}
		case syntax.Error:
			found = []*Error{s.locateSyntax(e)}
		case resolve.ErrorList:
			found = s.locateResolve(e)
		}
		several, ok := e.(interface{ Unwrap() []error })
		if _, args := e.(*argsError); !ok || args {
			e = errors.Unwrap(e)
			continue
		}
		found = nil
		for _, one := range several.Unwrap() {
			found = append(found, s.locateAll(one)...)
		}
		break
	}
	return fromCall(s, found, outer)
}

// fromCall adds to errors in a loaded file which line of the root Tiltfile led there.
func fromCall(s *state, found []*Error, outer *starlark.EvalError) []*Error {
	for _, e := range found {
		if outer != nil && e.File != s.main {
			e.CalledFrom = s.calledFrom(outer.CallStack)
		}
	}
	return found
}

// calledFrom is the innermost line of the root Tiltfile on a call stack.
func (s *state) calledFrom(stack starlark.CallStack) string {
	for i := range len(stack) {
		if at := siteOf(stack.At(i).Pos); at.file == s.main && at.line > 0 {
			return fmt.Sprintf("%s: %s", at, strings.TrimSpace(s.sourceLine(at)))
		}
	}
	return ""
}

func (s *state) locateEval(e *starlark.EvalError) *Error {
	at := innermost(e.CallStack)
	var args *argsError
	var marks []Mark
	if errors.As(e.Unwrap(), &args) && at == caller(e.CallStack) {
		at, marks = s.markArgs(at, args)
	}
	if at.file == "" {
		at.file = s.main
	}
	found := s.placed(at, strings.TrimPrefix(e.Msg, "Starlark computation cancelled: "), e.Unwrap())
	found.Marks = marks
	found.Backtrace, _, _ = strings.Cut(e.Backtrace(), "\nError")
	if _, ours := builtins[e.CallStack.At(0).Name]; !ours {
		found.Mend = explainRuntime(e.Msg)
	}
	return found
}

// innermost returns the innermost place of a call stack that is in a file of the user, since nobody can mend the
// extensions that are part of hone; where there is none, the innermost place of all.
func innermost(stack starlark.CallStack) site {
	for i := range len(stack) {
		if pos := stack.At(i).Pos; inProgram(pos) && !isEmbedded(pos.Filename()) {
			return siteOf(pos)
		}
	}
	return caller(stack)
}

// caller returns the innermost place of a call stack.
func caller(stack starlark.CallStack) site {
	for i := range len(stack) {
		if pos := stack.At(i).Pos; inProgram(pos) {
			return siteOf(pos)
		}
	}
	return site{}
}

// inProgram tells a place in a program from that of a builtin.
func inProgram(p syntax.Position) bool { return p.Line > 0 && p.Filename() != "<builtin>" }

// markArgs finds the arguments at fault. The error is where the first of them is; several are marked one by one.
func (s *state) markArgs(call site, e *argsError) (site, []Mark) {
	marks := make([]Mark, len(e.faults))
	for i, f := range e.faults {
		at := argSite(call.file, s.sources[call.file], call, f.at)
		marks[i] = Mark{Line: at.line, Col: at.col, Text: s.sourceLine(at), Msg: f.err.Error()}
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
func (s *state) locateResolve(list resolve.ErrorList) []*Error {
	var out []*Error
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.Msg] {
			continue
		}
		seen[e.Msg] = true
		at := siteOf(e.Pos)
		found := s.placed(at, e.Msg, nil)
		if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok && !strings.Contains(name, " ") {
			found.Msg, found.Mend = s.explainUndefined(at.file, name)
		} else {
			found.Msg, found.Mend = explainResolve(e.Msg)
		}
		out = append(out, found)
	}
	return out
}

// locateSyntax places a syntax error and says it in plain words.
func (s *state) locateSyntax(e syntax.Error) *Error {
	x := explainSyntax(s.sources[e.Pos.Filename()], e)
	found := s.placed(site{file: e.Pos.Filename(), line: x.line, col: x.col}, x.msg, nil)
	found.Mend = x.mend
	return found
}
