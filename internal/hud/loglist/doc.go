// Package loglist lists the log lines that a query selects, found away from the goroutine that draws them.
//
// # Concurrency
//
// A Lister owns one goroutine for each open list, which looks for lines until the list is closed; Wait returns when all of
// them have ended. The lines that a list has found so far can be read from any goroutine, at the price of the lines read, however long
// the log is.
package loglist
