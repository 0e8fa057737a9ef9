// Package process runs the user's commands on this machine: to their end (Run), as servers that keep running (Serve),
// and as readiness probes (Prober). It sees to it that a command takes everything that it started with it when it ends.
//
// # Groups
//
// Each command leads a process group of its own (a job object on Windows). Stopping a command sends SIGTERM to the
// group, waits for a grace period, and sends SIGKILL to what is left. When a command ends by itself, what it left
// behind in its group is stopped in the same way, with a short grace. Only a program that leaves its group on purpose,
// as daemons do, stays.
//
// # Never an orphan
//
// Commands end with this process even if it is killed. A small guard process, a second instance of this program in a
// session of its own, holds the reading end of a pipe and knows the groups that run; when the pipe breaks it stops
// them. The guard starts with the first command, provided that main has called GuardMain, and is replaced if it dies.
//
// On Linux two things cover the instant between the start of a command and the guard's hearing of it, and the loss of
// the guard itself: the kernel sends SIGTERM to each command when this process is gone, and the guard looks for
// processes that carry this session's mark in their environment. Elsewhere that instant, well below a millisecond,
// remains. On Windows closing the job object does it all.
//
// # Concurrency
//
// Run, Serve and Prober.Run block until their work is done and everything that they started is gone, and end early when
// their context does. Their goroutines (one that waits for the process, one for each pipe) have ended when they return;
// the exceptions are a Stdin whose Read blocks for ever and a process that survives SIGKILL. On Linux one goroutine,
// locked to its thread, starts all commands, for as long as any of them runs: the kernel's signal depends on it.
package process
