package tiltfile

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/extension"
)

// site is a place in a Tiltfile.
type site struct {
	file      string
	line, col int
	// calls are those that led to a call that stands there; nil for places that were found otherwise.
	calls *starlark.CallStack
}

// backtrace lists the calls that led to the place, outermost first.
func (p site) backtrace() string {
	if p.calls == nil {
		return ""
	}
	return strings.TrimSuffix(p.calls.String(), "\n")
}

func (p site) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

func siteOf(p syntax.Position) site {
	return site{file: p.Filename(), line: int(p.Line), col: int(p.Col)}
}

// innermost returns the innermost place of a call stack that is in a file of the user, since nobody can mend the
// extensions that are part of hone; where there is none, the innermost place of all.
func innermost(stack starlark.CallStack) site {
	for i := range len(stack) {
		if pos := stack.At(i).Pos; inProgram(pos) && !extension.IsEmbeddedPath(pos.Filename()) {
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
