// Package tiltfile evaluates a Tiltfile, a program in Starlark, and yields the model that it declares: resources with
// their images, objects, commands and settings.
//
// Load is the only way in. It reads the files and runs the commands that the Tiltfile asks for, and nothing else: no
// network but for extensions that are not part of hone, no change of the process' own environment or folder. Each evaluation has a state of its own, so that any
// number of them may run at once.
//
// # How it is put together
//
// Builtins are plain functions on a call, registered by group in builtins.go; each group has a file. While the program
// runs they only collect declarations, each with the site it was made at. When it has ended, assemble.go turns
// objects into resources, and finish.go checks what can be said only about the whole: dependencies, unused steps and
// images, the cluster's safety gate. Every error that the user can mend carries file, line and the line's text: locate.go
// finds them, hint_*.go say what to write instead. Faults that have nothing to do with each other come together.
//
// A Memo carries what was worked out from one evaluation to the next, keyed by content. Memo says what is remembered,
// inputs which commands are.
//
// # Concurrency
//
// An evaluation runs on the caller's goroutine, but for the documents of a YAML stream, which a few workers read while
// it waits for them, and for commands that only read and that the last evaluation asked for, which a few workers run
// ahead of their turn (see ahead). Load returns only after every command that it started has ended; when
// the context is cancelled, the interpreter stops at its next step and running commands are killed with their whole
// process group.
package tiltfile
