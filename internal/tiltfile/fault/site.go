package fault

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// Site is a place in a Tiltfile.
type Site struct {
	File      string
	Line, Col int
	// Calls are the calls that led to the call at this place; nil where there is no call at this place.
	Calls *starlark.CallStack
}

// Call is a call of a function of the Tiltfile language, by its name.
type Call struct {
	Name string
	Site Site
}

// backtrace lists the calls that led to the place, outermost first.
func (p Site) backtrace() string {
	if p.Calls == nil {
		return ""
	}
	return strings.TrimSuffix(p.Calls.String(), "\n")
}

// String returns "file:line".
func (p Site) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// SiteOf converts a position of the interpreter.
func SiteOf(p syntax.Position) Site {
	return Site{File: p.Filename(), Line: int(p.Line), Col: int(p.Col)}
}

// Innermost returns the innermost place of a call stack that is in a file of the user, since users cannot fix the
// extensions that are part of hone. If there is none, it returns the innermost place of all.
func Innermost(stack starlark.CallStack) Site {
	for i := range len(stack) {
		if pos := stack.At(i).Pos; InProgram(pos) && !extension.IsEmbeddedPath(pos.Filename()) {
			return SiteOf(pos)
		}
	}
	return Caller(stack)
}

// Caller returns the innermost place of a call stack.
func Caller(stack starlark.CallStack) Site {
	for i := range len(stack) {
		if pos := stack.At(i).Pos; InProgram(pos) {
			return SiteOf(pos)
		}
	}
	return Site{}
}

// InProgram reports whether a place is in a program, as opposed to a builtin.
func InProgram(p syntax.Position) bool { return p.Line > 0 && p.Filename() != "<builtin>" }
