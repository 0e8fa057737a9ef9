// Package tiltfile evaluates a Tiltfile, a program in Starlark, and yields the model that it declares: resources with
// their images, objects, commands and settings.
//
// Load is the only way in. It reads the files and runs the commands that the Tiltfile asks for, and nothing else: no
// network but for extensions that are not part of hone, no change of the process' own environment or folder. Each evaluation
// has a state of its own, so that any number of them may run at once.
//
// # How it is put together
//
// Each topic of the language is a package below this one: image, kubernetes, dockercompose, local, v1alpha1, config, settings
// and so on. It has the builtins of the topic, which are functions on an eval.Call, and keeps what they declare, each
// declaration with the site it was made at. To add a builtin, add it to the Builtins of its topic, and describe it in
// language/pages.
//
// While the program runs, builtins only collect. When it has ended, package kubernetes turns objects into resources,
// dockercompose services, local commands; finish.go here puts them together and checks what can be said only about the
// whole: dependencies, names, the gate of the cluster. Every error that the user can mend carries file, line and the line's
// text: interpreter.Locate finds them, package hint says what to write instead. Faults that have nothing to do with each
// other come together.
//
// A memo.Memo carries what was worked out from one evaluation to the next, keyed by content. Memo says what is remembered,
// command.Inputs which commands are.
//
// # Concurrency
//
// An evaluation runs on the caller's goroutine, but for the documents of a YAML stream, which a few workers read while
// it waits for them, and for commands that only read and that the last evaluation asked for, which a few workers run
// ahead of their turn (see package command). Load returns only after every command that it started has ended; when
// the context is cancelled, the interpreter stops at its next step and running commands are killed with their whole
// process group.
package tiltfile
