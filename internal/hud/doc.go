// Package hud shows the session in terminals: the terminal that hone runs in, and terminals of other processes that have a copy of its
// state. It passes snapshots to package screen, and the user's requests to the session.
//
// # Concurrency
//
// Subscriber.Run, Attached.Show and Past.Show work on the goroutine that calls them; the goroutines of the screen have ended when they
// return. Each screen has a goroutine that remembers its layout in a file, and ends with it. Writing to a terminal blocks only that
// terminal's screen, which draws the newest frame when it continues.
package hud
