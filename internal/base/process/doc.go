// Package process runs the user's commands on this machine: to their end (Run), as servers that keep running (Serve),
// and as readiness probes (Prober). When a command ends, all processes that it started are ended as well.
//
// # Groups
//
// Each command leads its own process group (a job object on Windows). Stopping a command sends SIGTERM to the group, waits
// for a grace period, and sends SIGKILL to the remaining processes. When a command ends on its own, the remaining processes
// of its group are stopped in the same way, with a short grace period. Only programs that deliberately leave their group, as
// daemons do, keep running. On Linux and Windows, the daemons of a server end with it, unless the server's mark (HONE_SERVER) is
// empty in their environment. On Linux, a number among their limits tells them even if they have dropped their environment.
//
// # Never an orphan
//
// Commands end with this process even if it is killed. A small guard process, a second instance of this program in its
// own session, holds the reading end of a pipe and knows the running groups. When the pipe breaks it stops them, with
// their grace periods. The guard starts with the first command, provided that main has called GuardMain. If the guard
// dies while commands run, it is replaced immediately.
//
// On Linux the kernel covers the remaining cases. This process and its guard hold the lifeline, a pipe whose other end
// every group shares: once both are gone, even if killed at the same moment, the kernel kills the groups, including
// those that ignore SIGTERM. The kernel also sends SIGTERM to each command when only this process is gone. A command
// that was started but not yet announced to the guard is found by the mark of this session in its environment, and so are the
// daemons of servers.
//
// On other Unix systems a command can survive if it has not been announced yet, or if this process and its guard are
// killed within the milliseconds that it takes to replace the guard. On Windows closing the job object covers all
// cases.
//
// # Concurrency
//
// Run, Serve and Prober.Run block until their work is done and all processes that they started are gone. They end early
// when their context does. Their goroutines (one that waits for the process, one for each pipe) have ended when they
// return, except if a Read of Stdin blocks forever or a process survives SIGKILL. While any command runs, one goroutine
// watches the guard. On Linux another goroutine, locked to its thread, starts all commands, because the kernel's signal
// depends on that thread.
package process
