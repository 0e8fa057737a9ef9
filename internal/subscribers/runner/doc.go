// Package runner runs a command that the Tiltfile declares, a server or any other one, until it ends or is stopped: its process, its
// readiness probe, and its lines in the log.
//
// # Concurrency
//
// Run.Do owns the process, all processes that it starts, and the goroutine of the prober. All of them have ended when Do returns.
// Reports are made one at a time, on the goroutine of Do, of the prober, or of the context's end.
package runner
