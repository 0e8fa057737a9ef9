// Package hud contains the subscribers that show the session in terminals: the terminal that hone runs in, and attached
// terminals. They pass snapshots to package screen and dispatch the user's requests.
//
// # Concurrency
//
// Subscriber.Run works on the goroutine that calls it; the goroutines of the screen have ended when it returns. Terminals.Run
// owns one goroutine for each attached terminal, and waits for all of them. Each screen has a goroutine that remembers its
// layout in a file, and ends with it. Writing to a terminal blocks only that terminal's screen, which draws the newest frame
// when it continues.
package hud
