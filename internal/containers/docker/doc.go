// Package docker is a thin wrapper around a container engine's API: build with BuildKit, tag, inspect, push, save, and
// run commands in containers. It is the only package that uses the engine's client library.
//
// # Concurrency
//
// An Engine may be used by several goroutines at once. A build runs one goroutine for the session through
// which the engine fetches files, and an exec one for its standard input; the call that started them cancels them and
// waits for them before it returns.
//
// # Testing
//
// Package dockertest has an engine in memory and a conformance suite, which always runs on it. The suite also runs on a real
// engine when HONE_TEST_CLUSTER is set.
package docker
