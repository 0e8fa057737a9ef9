package tiltfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// sources are the files of an evaluation, by which errors are placed. They are used by one goroutine.
type sources struct {
	// main is the absolute path of the root Tiltfile.
	main string
	// debug has errors show the calls that led to them.
	debug bool
	// texts are those of the files that were executed, by path.
	texts map[string]string
}

// newSources returns the sources of an evaluation that has read nothing yet.
func newSources(main string, debug bool) *sources {
	return &sources{main: main, debug: debug, texts: map[string]string{}}
}

// paths are the files that were executed, sorted.
func (s *sources) paths() []string { return slices.Sorted(maps.Keys(s.texts)) }

// errorAt returns an error at a place.
func (s *sources) errorAt(at site, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return s.placed(at, err.Error(), errors.Unwrap(err))
}

// placed puts an error at a place.
func (s *sources) placed(at site, msg string, cause error) *Error {
	e := &Error{File: at.file, Line: at.line, Col: at.col, Text: s.line(at), Msg: msg, Backtrace: at.backtrace(), cause: cause, debug: s.debug}
	if at.calls != nil && at.file != s.main {
		e.CalledFrom = s.calledFrom(*at.calls)
	}
	return e
}

// unplaced is an error of which nothing is known but the root Tiltfile.
func (s *sources) unplaced(err error) *Error {
	return &Error{File: s.main, Msg: err.Error(), cause: err, debug: s.debug}
}

// line returns the text of a line of a file that was executed.
func (s *sources) line(at site) string { return lineOf(unixLines(s.texts[at.file]), at.line) }

// calledFrom is the innermost line of the root Tiltfile on a call stack.
func (s *sources) calledFrom(stack starlark.CallStack) string {
	for i := range len(stack) {
		if at := siteOf(stack.At(i).Pos); at.file == s.main && at.line > 0 {
			return fmt.Sprintf("%s: %s", at, strings.TrimSpace(s.line(at)))
		}
	}
	return ""
}

// unixLines ends all lines with a line feed: to the parser a carriage return alone ends one, too.
func unixLines(src string) string {
	if !strings.Contains(src, "\r") {
		return src
	}
	return strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
}

// lineOf returns the text of a line, or nothing where there is none.
func lineOf(src string, n int) string {
	lines := strings.Split(src, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}
