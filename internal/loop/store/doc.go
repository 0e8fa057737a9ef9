// Package store is the machine that hone's state lives in: tables of entries, one loop that reduces actions, numbered
// immutable snapshots, and subscribers with declared contracts. It knows neither hone's tables (see package state) nor
// any client.
//
// # Contract
//
// Only the goroutine of Store.Run changes state. A reducer is a pure function of a draft of one table and one action: no
// I/O, no goroutine, no clock (Draft.Now is the time at which the action was dispatched), no channel. An action that no
// table accepts is a bug: it is reported and dropped, and fails a test (package bug). A panic of a reducer ends the
// session.
//
// A table may follow others (Follow): it then processes every change of their entries, action by action. It therefore
// misses nothing that happens between two snapshots, and need not keep copies of their entries. It may be followed in turn.
//
// After each batch the loop publishes one numbered Snapshot. Snapshots are immutable. The cost of publishing grows with the
// number of changes in the batch, not with the size of the state, except for the list of a table's entries, whose addresses are
// copied.
//
// A Derived value is computed from tables when it is read, once for each state of the tables; other readers wait meanwhile,
// as for the list of a table. Each keeps a value for each item of a derived list, so that after a change only the changed
// items are computed.
//
// Store.Dispatch appends to a queue and pokes a one-slot channel. It never blocks, never starts a goroutine, and does
// nothing once the loop has ended.
//
// A Subscriber is woken through a one-slot channel, only when a table that it declared has changed. It may miss snapshots
// in between, so it compares the desired state with the actual state.
//
// # Lifecycle of entries
//
// A table may have finalizers: every subscriber that declares a Strong input on it puts its name on each new entry. When a
// reducer tears such an entry down, its phase changes, and the entry is destroyed when each of them has released it
// (Runtime.Release).
//
// # Concurrency
//
// Supervisor.Run owns one goroutine per subscriber and the loop's. It restarts a subscriber that fails or panics with a
// growing pause, stops them in the order of their stages, waits for each, and names those that did not stop in time.
package store
