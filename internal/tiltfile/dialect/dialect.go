// Package dialect defines the Starlark dialect of Tiltfiles, and limits the size and the depth of values.
package dialect

import "go.starlark.net/syntax"

// Options is the Starlark dialect of Tiltfiles.
var Options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// The limits of an evaluation's input, so that endless input is an error instead of exhausting the session's memory.
const (
	// MostDigits bounds the numbers in texts: the time to parse one grows with the square of its length.
	MostDigits = 10_000
	// MostDepth and MostValues bound the values to encode; MostValues also bounds the values that a function of Starlark
	// processes in one call.
	MostDepth  = 1_000
	MostValues = 5_000_000
)
