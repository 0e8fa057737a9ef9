// Package view turns a snapshot of the store into what the terminal shows: a header, rows, columns, the details of one
// resource, the summary at the end. It is pure: no I/O, no clock, no goroutine; what it returns may be shared.
package view
