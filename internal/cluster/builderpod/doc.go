// Package builderpod runs BuildKit's daemon in a cluster, and connects to it through an exec in its pod: no port is open, and a build step
// cannot reach the daemon's socket.
//
// The daemon runs with the fewest rights that the cluster grants. A Mode is one way to run it, and the modes form a ladder: the first one
// that the cluster admits and in which the daemon starts is taken, and the others are remembered with the reasons against them. A mode that
// gives the pod the rights of its node's root user is only taken if the user allows it.
//
// # Concurrency
//
// A Daemon may be used by several goroutines. One goroutine brings the pod up, for all that wait for it; Close ends it, and waits for it.
// Each connection has one more, which ends with the connection.
package builderpod
