package tiltfile

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/problem"
)

// Error is a mistake in a Tiltfile, or in a file that it loads, at a place. It converts to a *problem.Problem through
// errors.As, with the line and a marker below it as the detail.
type Error struct {
	// File is the absolute path of the file, or ext://NAME/Tiltfile for an extension that is part of hone; Line and Col count from 1; Line is 0 where no line can be named.
	File      string
	Line, Col int
	// Text is the source line.
	Text string
	// Msg says what is wrong, without the place.
	Msg string
	// Backtrace lists the calls that led here, outermost first; empty for errors found before the program ran.
	Backtrace string
	cause     error
}

var _ error = (*Error)(nil)

// Error returns "File:Line: Msg".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// Unwrap returns the underlying error, if there is one.
func (e *Error) Unwrap() error { return e.cause }

// As makes errors.As turn the error into a problem.
func (e *Error) As(target any) bool {
	if p, ok := target.(**problem.Problem); ok {
		*p = e.Problem()
		return true
	}
	return false
}

// Problem returns the error as the user should see it: the message, the source line with a marker, and the mend of its
// cause where there is one.
func (e *Error) Problem() *problem.Problem {
	p := &problem.Problem{Summary: e.Error(), Detail: e.excerpt()}
	if cause, ok := problem.Of(e.cause); ok {
		p.Mend, p.Link = cause.Mend, cause.Link
		if cause.Detail != "" {
			p.Detail = strings.TrimPrefix(p.Detail+"\n\n"+cause.Detail, "\n\n")
		}
	}
	return p
}

// excerpt shows the source line and marks the column.
func (e *Error) excerpt() string {
	if strings.TrimSpace(e.Text) == "" {
		return ""
	}
	number := fmt.Sprintf("%4d | ", e.Line)
	out := number + e.Text
	if e.Col < 1 || e.Col > len(e.Text)+1 {
		return out
	}
	// Tabs stay tabs, so that the marker stands below its column whatever their width.
	lead := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Text[:e.Col-1])
	return out + "\n" + strings.Repeat(" ", len(number)-2) + "| " + lead + "^"
}

// site is a place in a Tiltfile.
type site struct {
	file      string
	line, col int
}

func (p site) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

func siteOf(p syntax.Position) site { return site{p.Filename(), int(p.Line), int(p.Col)} }

// errorAt returns an error at a place.
func (s *state) errorAt(at site, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return s.placed(at, err.Error(), errors.Unwrap(err))
}

// placed puts an error at a place.
func (s *state) placed(at site, msg string, cause error) *Error {
	return &Error{File: at.file, Line: at.line, Col: at.col, Text: s.sourceLine(at), Msg: msg, cause: cause}
}

// sourceLine returns the text of a line of a file that was executed.
func (s *state) sourceLine(at site) string {
	lines := strings.Split(s.sources[at.file], "\n")
	if at.line < 1 || at.line > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[at.line-1], "\r")
}

// locate turns what the interpreter reports into an Error, at the innermost place that the chain of causes knows.
func (s *state) locate(err error) error {
	if err == nil {
		return nil
	}
	found := &Error{File: s.main, Msg: err.Error(), cause: err}
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *Error:
			return e
		case *starlark.EvalError:
			found = s.locateEval(e)
		case syntax.Error:
			found = s.placed(siteOf(e.Pos), e.Msg, nil)
		case resolve.ErrorList:
			found = s.locateResolve(e)
		}
	}
	return found
}

func (s *state) locateEval(e *starlark.EvalError) *Error {
	at := innermost(e.CallStack)
	if at.file == "" {
		at.file = s.main
	}
	found := s.placed(at, e.Msg, e.Unwrap())
	found.Backtrace = e.Backtrace()
	return found
}

// innermost returns the innermost place of a call stack that is in a file of the user, since nobody can mend the
// extensions that are part of hone; where there is none, the innermost place of all.
func innermost(stack starlark.CallStack) site {
	var found site
	for i := range len(stack) {
		pos := stack.At(i).Pos
		if pos.Line == 0 || pos.Filename() == "<builtin>" {
			continue
		}
		if !isEmbedded(pos.Filename()) {
			return siteOf(pos)
		}
		if found.file == "" {
			found = siteOf(pos)
		}
	}
	return found
}

func (s *state) locateResolve(list resolve.ErrorList) *Error {
	msg := list[0].Msg
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok && !strings.Contains(name, " ") {
		msg += didYouMean(name, s.predeclared.Keys())
	}
	if n := len(list) - 1; n > 0 {
		msg += fmt.Sprintf(" (and %d more like it)", n)
	}
	return s.placed(siteOf(list[0].Pos), msg, nil)
}
