// Package commandcontroller runs the commands that the Tiltfile declares outside of resources: at once or when a button is
// clicked, and again on each event that restarts them.
//
// # Concurrency
//
// Run owns one goroutine per command that runs, which owns the process and its prober. The next run of a command waits until the
// last one has ended; different commands never wait for each other. When Run returns, all goroutines and processes have ended.
package commandcontroller
