// Package logstore stores the logs of resources: append-only segments per resource, bounded, with the oldest spilled to
// disk, and readers that follow from a checkpoint. It also has the small Logger interface through which all parts of
// hone write messages to the user.
//
// # Order
//
// Every line gets a number when it is stored; numbers rise over all resources together, and every reader returns lines
// in that order. A line never changes after that. The number is the only form of reading position, in a Cursor as well
// as in a checkpoint that leaves the process.
//
// # Bounds
//
// Each resource has its own segments and its own bounds, so a chatty resource only ever pushes out its own lines. Lines
// that do not fit in memory are compressed and written to files; lines that do not fit there are dropped, oldest first,
// and counted. A writer that is faster than the disk is slowed down instead of losing lines; other writers are not
// affected.
//
// # Concurrency
//
// All methods may be called from any goroutine. A store has one goroutine, the keeper: it spills segments, drops files
// and completes unfinished lines. New starts it, and Close stops it and waits for it.
package logstore
