package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// Sources are the files of an evaluation. They give errors their place. They are used by one goroutine.
type Sources struct {
	// Main is the absolute path of the root Tiltfile.
	Main string
	// debug makes errors show the calls that led to them.
	debug bool
	// Texts are the contents of the files that were executed, by path.
	Texts map[string]string
}

// NewSources returns the sources of an evaluation that has read nothing yet.
func NewSources(main string, debug bool) *Sources {
	return &Sources{Main: main, debug: debug, Texts: map[string]string{}}
}

// Paths are the files that were executed, sorted.
func (s *Sources) Paths() []string { return slices.Sorted(maps.Keys(s.Texts)) }

// ErrorAt returns an error at a place.
func (s *Sources) ErrorAt(at Site, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return s.Placed(at, err.Error(), errors.Unwrap(err))
}

// Placed puts an error at a place.
func (s *Sources) Placed(at Site, msg string, cause error) *Error {
	e := &Error{File: at.File, Line: at.Line, Col: at.Col, Text: s.Line(at), Msg: msg, Backtrace: at.backtrace(), cause: cause, debug: s.debug}
	if at.Calls != nil && at.File != s.Main {
		e.CalledFrom = s.CalledFrom(*at.Calls)
	}
	return e
}

// Unplaced returns an error whose only known place is the root Tiltfile.
func (s *Sources) Unplaced(err error) *Error {
	return &Error{File: s.Main, Msg: err.Error(), cause: err, debug: s.debug}
}

// Line returns the text of a line of a file that was executed.
func (s *Sources) Line(at Site) string { return LineOf(UnixLines(s.Texts[at.File]), at.Line) }

// CalledFrom is the innermost line of the root Tiltfile on a call stack.
func (s *Sources) CalledFrom(stack starlark.CallStack) string {
	for i := range len(stack) {
		if at := SiteOf(stack.At(i).Pos); at.File == s.Main && at.Line > 0 {
			return fmt.Sprintf("%s: %s", at, strings.TrimSpace(s.Line(at)))
		}
	}
	return ""
}

// UnixLines ends all lines with a line feed: for the parser, a carriage return alone ends a line too.
func UnixLines(src string) string {
	if !strings.Contains(src, "\r") {
		return src
	}
	return strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
}

// LineOf returns the text of a line, or "" if there is no such line.
func LineOf(src string, n int) string {
	lines := strings.Split(src, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}
