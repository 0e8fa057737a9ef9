// Package screen shows views and logs in a terminal and turns keys into requests. It is the only package that uses tview and
// tcell.
//
// # Structure
//
// The screen is a stack of layers: the main view (the table above the log), and on it details, error cards, prompts, texts.
// Keys and the mouse name verbs; ui.dispatch runs them, and help and footer are made from the same list. The log pane reads
// lists of package loglist, which are built elsewhere, and never more lines than it shows.
//
// # Concurrency
//
// Run owns all goroutines. Only tview's goroutine, on which Run itself was called, accesses the widgets. One pump builds
// the newest frame when something has changed and passes it to tview, at most thirty times a second. Lists, and jobs that take
// longer than an instant, have goroutines of their own; their results reach tview's goroutine through the pump. Passing
// something to tview after it has stopped would block forever, so the pump always ends first: everything that would stop tview
// on its own (a lost terminal, a panic) is caught and reported to Run, which stops the pump and then tview.
//
// # Testing
//
// Tests run in a testing/synctest bubble with a simulated terminal, so that "wait until idle" is exact and tests control the
// time.
package screen
