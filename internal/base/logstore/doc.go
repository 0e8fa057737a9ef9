// Package logstore keeps what resources say: append-only segments per resource, bounded, with the oldest spilled to
// disk, and readers that follow from a checkpoint. It also has the small Logger interface through which all parts of
// hone speak to the user.
//
// # Order
//
// Every line gets a number when it is stored; numbers rise over all resources together, and every reader returns lines
// in that order. A line never changes after that. Numbers are the only reading position there is: a Cursor holds one,
// and a checkpoint that leaves the process is one.
//
// # Bounds
//
// Each resource has its own segments and its own bounds, so a chatty resource only ever pushes out its own lines. What
// does not fit in memory is compressed and written to files; what does not fit there is dropped, oldest first, and
// counted. A writer that is faster than the disk is slowed down, alone, instead of losing lines.
//
// # Concurrency
//
// All methods may be called from any goroutine. A store has one goroutine, the keeper: it spills segments, drops files
// and completes lines whose end does not come. New starts it, and Close stops it and waits for it.
package logstore
