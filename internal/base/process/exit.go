package process

import (
	"fmt"
	"os/exec"
)

// ExitError describes how a command failed. From Serve its code may be zero, because a server should not end.
type ExitError struct {
	// Code is the exit code, or 128 plus the signal's number.
	Code int
	// Signal is the name of the signal that ended the command ("SIGKILL"), empty if it ended on its own.
	Signal string
}

// Error returns "exit code 2" or "ended by SIGKILL".
func (e *ExitError) Error() string {
	if e.Signal != "" {
		return "ended by " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// ExitCode returns the code.
func (e *ExitError) ExitCode() int { return e.Code }

var _ error = (*ExitError)(nil)

// exitOf describes how a command that has been waited for ended.
func exitOf(cmd *exec.Cmd) ExitError {
	if cmd.ProcessState == nil {
		return ExitError{Code: -1}
	}
	if n, name := signalOf(cmd.ProcessState); n != 0 {
		return ExitError{Code: 128 + n, Signal: name}
	}
	return ExitError{Code: cmd.ProcessState.ExitCode()}
}
