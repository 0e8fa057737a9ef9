// Package dialect says which Starlark Tiltfiles are written in, and bounds how large and how deep values get.
package dialect

import "go.starlark.net/syntax"

// Options is the Starlark that Tiltfiles are written in.
var Options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// The bounds of what an evaluation takes in, so that what never ends is an error and not the end of the session's memory.
const (
	// MostDigits bounds the numbers in texts: reading them takes time with the square of their length.
	MostDigits = 10_000
	// MostDepth and mostValues bound what is encoded, mostValues also what a function of Starlark goes through at once.
	MostDepth  = 1_000
	MostValues = 5_000_000
)
