// Package cireport records the course of a session, and reports it at the end: events as lines and a summary for programs,
// a table for people, a JUnit file for tools that show test results.
//
// # Concurrency
//
// A Reporter may be used by any goroutine. The summary is a pure function of a view, a tally and the outcome of the
// session; secrets are removed from it before anything is written.
package cireport
