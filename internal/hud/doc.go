// Package hud is the subscriber that shows the session in a terminal: it gives snapshots to package screen and dispatches
// what the user asks for.
//
// # Concurrency
//
// Subscriber.Run works on the goroutine that calls it; the goroutines of the screen have ended when it returns.
package hud
