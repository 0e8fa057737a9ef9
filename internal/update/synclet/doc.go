// Package synclet brings files into running containers through a small program inside each of them, and has it run
// commands and restart the container's process. It holds hone's side: the conversation with one program (Session), ways of
// getting the program in (Injector), and the conversations with all containers (Pool), which is a liveupdate.Updater.
//
// What is in a container is known by content: a Session remembers the sum of every file that it wrote or asked about, and
// sends only what differs.
//
// # Concurrency
//
// A Session owns two goroutines, one that reads and one that ends the session when nothing moves on its stream any more;
// Close ends them and waits. Its methods may be called from any goroutine; updates take turns, everything else goes side
// by side. A Pool owns one goroutine for each container that it was told to keep ready. One whose container it is to let go of
// ends some time later, and before another begins with the same container; Close ends them all and waits.
package synclet
