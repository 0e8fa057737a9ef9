// Package portforward keeps a local port connected to whatever pod is current: the listener stays when pods come and
// go, and each connection finds its pod when it is accepted.
//
// # Concurrency
//
// A Forward's goroutines belong to its Run: one that accepts, one that reports changes, and two per connection. Run
// returns when all of them have ended, or names those that did not end within a few seconds. The listener that Listen
// returns for "localhost" has a goroutine per address, which end with its Close.
package portforward
