// Package fault describes the errors of a Tiltfile: their place, the source line, and how to fix them.
package fault

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Error is an error at a place in a Tiltfile, or in a file that it loads. It converts to a *problem.Problem through
// errors.As, with the line and a marker below it as the detail.
type Error struct {
	// File is the absolute path of the file, or ext://NAME/Tiltfile for an extension that is part of hone; Line and Col
	// (in characters) count from 1; Line is 0 where the line is not known.
	File      string
	Line, Col int
	// Text is the source line.
	Text string
	// Msg is the message, without the place.
	Msg string
	// Marks are the single errors where one call has several; all are in File.
	Marks []Mark
	// Mend is the correction to write; empty where it is unknown.
	Mend string
	// CalledFrom is the line of the root Tiltfile that led here, for an error in a loaded file; else empty.
	CalledFrom string
	// Backtrace lists the calls that led here, outermost first; empty for errors found before the program ran. Users
	// see it on request (tiltfile.Options.Debug).
	Backtrace string
	debug     bool
	cause     error
}

// Mark is one of several errors of a call.
type Mark struct {
	Line, Col int
	Text, Msg string
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
// cause if it has one.
func (e *Error) Problem() *problem.Problem {
	p := &problem.Problem{Summary: e.Error(), Mend: e.Mend}
	parts := []string{e.excerpt()}
	if e.CalledFrom != "" {
		parts = append(parts, "called from "+e.CalledFrom)
	}
	if cause, ok := problem.Of(e.cause); ok {
		p.Mend, p.Link = cmp.Or(cause.Mend, e.Mend), cause.Link
		parts = append(parts, cause.Detail)
	}
	if e.debug {
		parts = append(parts, strings.TrimSpace(e.Backtrace))
	}
	p.Detail = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
	return p
}

// excerpt shows the source line and marks the column; several errors are marked one by one, each with its reason.
func (e *Error) excerpt() string {
	if len(e.Marks) == 0 {
		return excerpt(Mark{Line: e.Line, Col: e.Col, Text: e.Text}, true)
	}
	var out []string
	for i, m := range e.Marks {
		out = append(out, excerpt(m, i == 0 || m.Line != e.Marks[i-1].Line))
	}
	return strings.Join(out, "\n")
}

// excerpt shows a line and a marker below its column, with the reason after it.
func excerpt(m Mark, withText bool) string {
	if strings.TrimSpace(m.Text) == "" {
		return ""
	}
	number := fmt.Sprintf("%4d | ", m.Line)
	var out string
	if withText {
		out = number + m.Text
	}
	line := []rune(m.Text)
	if m.Col < 1 || m.Col > len(line)+1 {
		return out
	}
	// Tabs stay tabs, so that the marker is below its column whatever their width.
	lead := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(line[:m.Col-1]))
	marker := strings.Repeat(" ", len(number)-2) + "| " + lead + strings.TrimRight("^ "+m.Msg, " ")
	return strings.TrimPrefix(out+"\n"+marker, "\n")
}
