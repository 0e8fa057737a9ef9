// Package cireport takes down how a session goes, and tells it at the end: events as lines and a summary for programs, a table
// for people, a JUnit file for what shows the results of tests.
//
// # Concurrency
//
// A Reporter may be asked from any goroutine. What is made of its Tally is pure: a view, a tally and how the session ended
// go in, a summary comes out, and secrets are taken out of that before anything is written.
package cireport
