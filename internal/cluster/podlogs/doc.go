// Package podlogs reads the log of one container without losing or repeating a line, even if the connection breaks,
// stalls or ends early, and across restarts of the container.
//
// # How
//
// The API can start a log only at a full second. So each new connection starts a moment before the newest delivered
// line, and lines that were delivered since that moment are recognised by their time and a hash of their text, and
// skipped. The times come from the container runtime, in nanoseconds; several lines may share one, and their order
// may differ slightly from the order of lines.
//
// The same overlap identifies the run of a log. A container's log is requested by the container's name, so after a
// restart it is the log of another run. If a log does not begin with the lines that were delivered last, the previous
// run's log is first read to its end.
//
// # Concurrency
//
// Run does all of its work, and calls Config's functions, on the goroutine of its caller. A timer for each connection
// breaks the connection if it is silent for too long. The timer ends with the connection.
package podlogs
