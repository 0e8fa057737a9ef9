// Package tiltfile evaluates a Tiltfile, a program in Starlark, and yields the model that it declares: resources with
// their images, objects, commands and settings.
//
// Load is the only way in. It reads the files and runs the commands that the Tiltfile requests, and nothing else: it
// uses no network except for extensions that are not part of hone, and does not change the process' own environment or
// folder. Each evaluation has its own state, so any number of them may run at once.
//
// # How it is put together
//
// Each topic of the language is a package below this one: image, kubernetes, dockercompose, local, v1alpha1, config,
// settings and so on. It implements the builtins of the topic as functions on an eval.Call, and stores the declarations
// that they make, each with its site. To add a builtin, add it to the Builtins of its topic, and describe it in
// language/pages.
//
// While the program runs, builtins only collect. When it has ended, package kubernetes turns objects into resources,
// dockercompose services, local commands; finish.go here joins them and makes the checks that need all of them:
// dependencies, names, the cluster gate. Every error that the user can fix carries file, line and the line's text:
// interpreter.Locate finds them, and package hint suggests a correction. Independent errors are reported together.
//
// A memo.Memo carries results from one evaluation to the next, keyed by content. Memo documents which results it
// remembers, and command.Inputs for which commands.
//
// # Concurrency
//
// An evaluation runs on the caller's goroutine, with two exceptions: a few workers read the documents of a YAML stream
// while the evaluation waits, and a few workers run the read-only commands of the last evaluation ahead of their turn
// (see package command). Load returns only after every command that it started has ended; when the context is
// cancelled, the interpreter stops at its next step and running commands are killed with their whole process group.
package tiltfile
