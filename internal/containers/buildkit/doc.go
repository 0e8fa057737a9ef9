// Package buildkit builds images with a BuildKit daemon that is found by its address, on this machine or on another one, with no container
// engine. It speaks the daemon's own API; the session through which a daemon fetches files, the progress and the errors are those of
// package docker.
//
// # Concurrency
//
// A Builder may be used by several goroutines at once. A build runs one goroutine for its session and one for its request; both have
// ended when Build returns.
package buildkit
