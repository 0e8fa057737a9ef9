// Package state defines what hone knows while it runs: the tables, the actions that change them, and the reducers, a file
// per topic. All of it is pure; the machinery is in package store.
//
// Values in tables are immutable once a reducer has put them there: reducers copy maps and slices before they change them,
// and readers must not write to what they read.
package state
