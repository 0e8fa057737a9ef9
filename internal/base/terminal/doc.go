// Package terminal carries a terminal over a connection: the user's input and the terminal's size in one direction, its
// output in the other.
//
// # Protocol
//
// A client sends POST /api/attach, or /api/attach/read-only for a screen that cannot change the session, with Upgrade:
// hone-terminal. After the answer 101 both sides send frames: one byte for the kind, two for the length (big-endian), and the
// content. The client's first frame is Hello, which describes its terminal (Description, as the query of a URL). Text goes in
// both directions. Size (columns and rows, two bytes each) goes to the session. Open (a web address to open in a browser) and
// End (a final message to the user, the last frame) come from the session. A frame of an unknown kind is an error, which ends
// the connection.
//
// # Programs
//
// Edit (a line, four bytes, 0 for none, and the absolute path of a file) and Page (an absolute path) ask the client to open the
// file in its user's editor or pager. Shell (a resource, a pod and a container, with NUL between them; the last two may be empty)
// asks it to run hone shell for this session. These requests are sent only if the description of the terminal has programs=true:
// older clients do not send it, and older sessions ignore it. Before a request, the session restores the terminal and stops
// reading; from then on it sends no text until the client answers with Done. The content of Done says why the program could not run
// or has failed, and is empty otherwise. The session drops input that arrives in between, but takes in sizes. The client sends
// neither of them while the program has the terminal; it sends the size before Done. After that, the session draws everything
// again. If the session ends first, its next frame is End. The client must be able to read the file: it is a path on the session's
// machine, and hone refuses it if it is not there.
//
// Rest asks the client to suspend itself, and Done follows when its user is back. It is like Edit and Page, but sent only if
// the description has suspends=true.
//
// From the client, an empty Rest says that it was asked to suspend itself, which the session answers with its own Rest. A Rest with
// a content says that the client was stopped and continues: the session restores the terminal and draws everything again. Older
// sessions skip both, and so does a session that has just asked for a program.
//
// # Commands
//
// Command asks the client to run a command of its user's own: a number of four bytes, the name that the user has given to the
// command, and variables for it, "NAME=value", each after a NUL. All of it is UTF-8. The client's own settings give the name its
// meaning: the session never sends a program to run, and the client refuses names and variables that it does not know. Command is
// sent only if the description has commands=true.
//
// With the number 0 the command has the terminal, which is then as for Edit. Any other number is a command that runs while the
// session has the terminal. The client answers it with any number of frames of kind Output (the command's number, and a part of its
// output) and then one of kind Ended (the command's number, and why the command could not run or has failed; nothing otherwise).
// They may come at any time, even while a program has the terminal. The end of the connection ends these commands.
//
// # Concurrency
//
// The package starts no goroutines. One goroutine may read from a Conn while any number of others write.
package terminal
