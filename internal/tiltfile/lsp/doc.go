// Package lsp is a language server for Tiltfiles: it tells an editor what a name means, what can stand at the cursor, and
// what is wrong with the text as it is typed. It speaks LSP 3.17 over a pair of streams.
//
// Only syntax is looked at: nothing is evaluated, so that no command of a Tiltfile ever runs because a file is opened.
// What builtins there are and what they take comes from package language. Where the extensions are that a text loads, comes
// from what it declares and from package extension; nothing is fetched.
//
// # How it is put together
//
// codec.go frames messages, protocol.go has their shapes, server.go the life of a connection. scan.go cuts text into
// tokens, whatever state it is in; outline.go finds the names that it defines, and cursor.go what surrounds a place in it.
// On these stand completion, hover, signature help, definitions and symbols, which must work while a statement is half
// written. Only diagnostics (diagnose.go, members.go) and formatting (format.go) use the interpreter's own parser, as they
// alone want the whole text to be right. Formatting is done by the formatter of Bazel's tools; what it returns is checked to
// be the same program.
//
// # Concurrency
//
// Serve answers on the goroutine that calls it, one message after the other, in their order. It owns one more goroutine,
// which reads; that ends when the input ends or is closed, and Serve closes it and waits.
package lsp
