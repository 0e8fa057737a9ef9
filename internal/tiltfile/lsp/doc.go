// Package lsp is a language server for Tiltfiles: it gives an editor documentation, completions, and the errors in the
// text as it is typed. It implements LSP 3.17 over a pair of streams.
//
// The server examines only syntax and evaluates nothing, so opening a file never runs a command of a Tiltfile. The
// builtins and their parameters come from package language. The extensions that a text loads are found by its
// declarations and by package extension; nothing is fetched.
//
// # How it is put together
//
// codec.go frames messages, protocol.go has their types, server.go handles a connection. scan.go splits text into
// tokens, even if the text is incomplete; outline.go finds the names that it defines, and cursor.go the context of a
// place in it. Completion, hover, signature help, definitions and symbols are based on these, since they must work
// while a statement is half written. Only diagnostics (diagnose.go, members.go) and formatting (format.go) use the
// interpreter's own parser, since only they require the whole text to be valid. Formatting uses the formatter of
// Bazel's tools; its result is checked to be the same program.
//
// # Concurrency
//
// Serve handles messages on the calling goroutine, one after the other, in their order. It starts one more goroutine,
// which reads until the input ends or is closed; Serve closes the input and waits for it.
package lsp
