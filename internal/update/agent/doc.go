//go:build linux

// Package agent is the synclet: what the small program does that hone starts inside containers.
//
// It uses nothing but the standard library, and leaves out its big parts, because the program travels over the stream
// that it later serves. Serve answers a client of package protocol on one stream; Supervise runs the container's process
// and restarts it when asked, which Restart does; Install copies the program.
//
// # Concurrency
//
// Serve reads on its caller's goroutine and answers from there, except for what commands and the supervisor say: each
// running command has two goroutines that read its output and one that waits for it, a connection to the supervisor has
// one, so has the search for a supervisor that was not there at first, and one removes what killed synclets left behind.
// All end with the stream; Serve waits for them. Supervise owns one goroutine that reaps, one that takes connections, one
// for each connection and one that hears of touches; they live as long as the program.
package agent
