// Package docker is the thin wrapper around a container engine's API: build with BuildKit, tag, inspect, push, save, and
// run commands in containers. It is the only package that knows the engine's own client library.
//
// # Concurrency
//
// An Engine and a Fake may be used by several goroutines at once. A build runs one goroutine for the session through
// which the engine fetches files, and an exec one for its standard input; the call that started them cancels them and
// waits for them before it returns.
//
// # Testing
//
// Fake stands for an engine in tests. One conformance suite runs on the fake always and on a real engine when
// HONE_TEST_CLUSTER is set.
package docker
