// Package hud holds the subscribers that show the session in terminals: the one that hone runs in, and those that attach.
// They give snapshots to package screen and dispatch what the user asks for.
//
// # Concurrency
//
// Subscriber.Run works on the goroutine that calls it; the goroutines of the screen have ended when it returns.
// Terminals.Run owns one goroutine for each terminal that is attached, and waits for all of them. Writing to a terminal
// blocks its own screen only, which draws the newest frame when it gets on.
package hud
