// Package screen shows views and logs in a terminal and turns keys into wishes. It is the only package that knows tview
// and tcell.
//
// # Concurrency
//
// Screen.Run owns all goroutines. tview's, on which Run itself was called, is the only one that touches what is drawn. One
// pump builds the newest frame when something has changed and hands it over, at most thirty times a second; the keys that
// need more than an instant are done by the pump too. A search through the log has a goroutine of its own. tview waits
// for nobody who hands something over once it has stopped, so the pump ends first, always: everything that would stop
// tview by itself (a terminal that went away, a panic) is caught and told to Run, which stops the pump and then tview.
//
// # Testing
//
// Tests run in a bubble of testing/synctest with a simulated terminal, so that "wait until idle" is exact and time is
// theirs.
package screen
