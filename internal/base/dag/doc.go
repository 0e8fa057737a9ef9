// Package dag walks directed acyclic graphs in parallel: bounded, in a fixed order, and so that a failure stops only what comes after
// it.
//
// # Concurrency
//
// Walk owns the goroutines that it starts, one for each node that runs, and returns only after the last of them has ended, also when
// its context is cancelled. The other functions are pure.
package dag
