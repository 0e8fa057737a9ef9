// Package portforward connects a local port to the current pod of a resource: the listener stays open when pods come
// and go, and each connection is connected to the pod that is current when it is accepted.
//
// # Concurrency
//
// A Forward's goroutines belong to its Run: one that accepts, one that reports changes, and two per connection. Run
// returns when all of them have ended, or reports those that did not end within a few seconds. The listener that Listen
// returns for "localhost" has a goroutine per address; its Close ends them.
package portforward
