// Package view converts a snapshot of the store to the content of the terminal: a header, rows, columns, the details of one
// resource, the summary at the end. It is pure: no I/O, no clock, no goroutine; its results may be shared.
package view
