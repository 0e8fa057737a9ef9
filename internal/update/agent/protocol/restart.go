package protocol

// Path is the program's path in containers that hone deploys.
const Path = "/.hone/synclet"

// The results of a restart: Restarted.Code, and the exit code of "synclet restart".
const (
	// RestartDone means that the new process has been started.
	RestartDone = 0
	// RestartFailed is any failure without a code of its own.
	RestartFailed = 1
	// RestartUnsupervised means that the container's process does not run under the supervisor.
	RestartUnsupervised = 3
	// RestartNotStarted means that the old process has ended and the new one could not be started.
	RestartNotStarted = 4
	// RestartSkipped means that the request which the restart was to come after has failed.
	RestartSkipped = 5
)

// ExitSkipped is the code of a command that was not started, since the request before it has failed. No command
// ends with it.
const ExitSkipped = 1000
