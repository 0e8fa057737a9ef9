// Package dag walks directed acyclic graphs in parallel, with a bound and in a fixed order. A failure stops only the
// nodes that come after the failed one.
//
// # Concurrency
//
// Walk owns the goroutines that it starts, one for each node that runs, and returns only after the last of them has ended, also when
// its context is cancelled. The other functions are pure.
package dag
