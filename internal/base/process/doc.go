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
// them, with their grace. The guard starts with the first command, provided that main has called GuardMain. While
// commands run, a guard that dies is noticed and replaced at once.
//
// On Linux the kernel does the rest. This process and its guard hold the lifeline, a pipe whose other end every group
// shares: once both are gone, killed at one moment even, the kernel kills the groups, those included that ignore SIGTERM.
// It also sends SIGTERM to each command when this process alone is gone. For the instant between the start of a command
// and the guard's hearing of it, the guard looks for processes that carry this session's mark in their environment.
//
// On other Unix systems that instant remains, and so does what runs when this process and its guard are killed within the
// milliseconds that it takes to replace the guard. On Windows closing the job object does it all.
//
// # Concurrency
//
// Run, Serve and Prober.Run block until their work is done and everything that they started is gone, and end early when
// their context does. Their goroutines (one that waits for the process, one for each pipe) have ended when they return;
// the exceptions are a Stdin whose Read blocks for ever and a process that survives SIGKILL. As long as any command runs,
// one goroutine watches the guard and, on Linux, another one, locked to its thread, starts all commands: the kernel's
// signal depends on it.
package process
