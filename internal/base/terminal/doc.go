// Package terminal carries a terminal over a connection: the user's input and the terminal's size in one direction, its
// output in the other.
//
// # Protocol
//
// A client sends POST /api/attach with Upgrade: hone-terminal. After the answer 101 both sides send frames: one byte
// for the kind, two for the length (big-endian), and the content. The client's first frame is Hello, which describes
// its terminal (Description, as the query of a URL). Text goes in both directions. Size (columns and rows, two bytes
// each) goes to the session. Open (a web address to open in a browser) and End (a final message to the user, the last
// frame) come from the session.
//
// # Concurrency
//
// The package starts no goroutines. One goroutine may read from a Conn while any number of others write.
package terminal
