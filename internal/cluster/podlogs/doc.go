// Package podlogs reads the log of one container without losing or doubling a line, however often the connection to it
// breaks, stalls or ends early, and across restarts of the container.
//
// # How
//
// The API can start a log only at a full second. So each new connection starts a moment before the newest line that was
// delivered, and what was delivered since then (times, and hashes of texts) is taken out of what comes. Times are those
// of the container runtime, in nanoseconds; several lines may share one, and their order may differ a little from the
// order of lines.
//
// The same overlap tells whose log it is. A container's log is asked for by name, so after a restart it is another one.
// If a log does not begin with what was delivered last, the previous run's log is read first, to its end.
//
// # Concurrency
//
// Run does all of its work, and calls Config's functions, on the goroutine of its caller. A timer per connection, which
// ends with it, breaks connections on which nothing has come for too long.
package podlogs
