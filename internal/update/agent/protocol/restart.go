package protocol

// Path is where containers that hone deploys have the program.
const Path = "/.hone/synclet"

// What a restart comes to: Restarted.Code, and the exit code of "synclet restart".
const (
	// RestartDone means that the new process has been started.
	RestartDone = 0
	// RestartFailed is everything that has no code of its own.
	RestartFailed = 1
	// RestartUnsupervised means that the container's process does not run under the supervisor.
	RestartUnsupervised = 3
	// RestartNotStarted means that the old process has ended and the new one could not be started.
	RestartNotStarted = 4
)
