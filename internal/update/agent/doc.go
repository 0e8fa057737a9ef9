//go:build linux

// Package agent implements the synclet, the small program that hone starts inside containers.
//
// It uses only the standard library, without its big parts, because the program is sent over the stream that it later
// serves. Serve answers a client of package protocol on one stream; Supervise runs the container's process and restarts
// it when Restart requests that; Install copies the program. The exit codes of a sequence's commands are noted in a file outside of the
// places, until the client knows: a connection may end at any time, and this program with it. Restarts are remembered by the supervisor.
//
// # Concurrency
//
// Serve reads on its caller's goroutine and answers from there, except for the output of commands and the supervisor:
// each running command has two goroutines that read its output and one that waits for it, a connection to the supervisor
// has one, so does the search for a supervisor that was missing at first, and one removes the leftovers of killed
// synclets. All end with the stream; Serve waits for them. Supervise owns one goroutine that reaps, one that accepts
// connections, one for each connection and one that watches for touches; they live as long as the program.
package agent
