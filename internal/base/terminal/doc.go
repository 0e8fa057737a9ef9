// Package terminal carries a terminal over a connection: what its user types and how large it is one way, what it shows
// the other way.
//
// # Protocol
//
// A client asks for POST /api/attach with Upgrade: hone-terminal. After the answer 101 both sides send frames: one byte for
// the kind, two for the length (big-endian), and the content. The client's first is Hello, which says what its terminal is
// (Description, as the query of a URL). Text goes both ways. Size (columns and rows, two bytes each) goes to the session;
// Open (a web address to show in a browser) and End (what to tell the user afterwards, the last frame) come from it.
//
// # Concurrency
//
// There are no goroutines. One goroutine may read from a Conn while any number write.
package terminal
