package tiltfile

import "go.starlark.net/syntax"

// dialect is the Starlark that Tiltfiles are written in.
var dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// The bounds of what an evaluation takes in, so that what never ends is an error and not the end of the session's memory.
const (
	// mostDigits bounds the numbers in texts: reading them takes time with the square of their length.
	mostDigits = 10_000
	// mostDepth and mostValues bound what is encoded, mostValues also what a function of Starlark goes through at once.
	mostDepth  = 1_000
	mostValues = 5_000_000
)
