// Package synclet copies files into running containers through a small program inside each of them, which also runs
// commands and restarts the container's process. It holds hone's side: the conversation with one program (Conversation), ways
// of getting the program in (Injector), and the conversations with all containers (Pool), which is a liveupdate.Updater.
//
// The content of a container is known by checksum: a Conversation remembers the sum of every file that it wrote or asked about, and
// sends only the differences.
//
// # Concurrency
//
// A Conversation owns two goroutines, one that reads and one that ends the conversation when its stream is silent; Close ends them
// and waits. Its methods may be called from any goroutine; updates are sent one at a time and answered in that order, everything else runs
// concurrently. An update of many files reads them in a few goroutines, for which it waits. A Pool owns one goroutine for each container
// that it keeps ready. The goroutine of a container that it releases ends some time later, and before another begins with the same
// container; Close ends them all and waits.
package synclet
