// Package state defines the state of a running session: the tables, the actions that change them, and the reducers, a file per
// topic. All of it is pure; the machinery is in package store.
//
// Values in tables are immutable once a reducer has put them there: reducers copy maps and slices before they change them, and
// readers must not write to any value that they read.
package state
