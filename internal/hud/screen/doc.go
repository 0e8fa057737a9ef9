// Package screen shows views and logs in a terminal and turns keys into requests. It is the only package that uses tview and
// tcell.
//
// # Concurrency
//
// Run owns all goroutines. Only tview's goroutine, on which Run itself was called, accesses what is drawn. One pump builds
// the newest frame when something has changed and passes it to tview, at most thirty times a second; the pump also handles
// keys that need more than an instant. A search through the log has its own goroutine. Passing something to tview after it
// has stopped would block forever, so the pump always ends first: everything that would stop tview on its own (a lost
// terminal, a panic) is caught and reported to Run, which stops the pump and then tview.
//
// # Testing
//
// Tests run in a testing/synctest bubble with a simulated terminal, so that "wait until idle" is exact and tests control the
// time.
package screen
