package liveupdate

import (
	"context"
	"errors"
	"fmt"

	"github.com/hone-dev/hone/pkg/model"
)

// FallBackError means that a change cannot be made in place: it needs a new image.
type FallBackError struct {
	// Reason is for people: `package.json matches fall_back_on "package.json"`.
	Reason string
	// Path is the local path that caused it, empty if no single path did.
	Path string
}

// Error returns the reason.
func (e *FallBackError) Error() string { return e.Reason }

var _ error = (*FallBackError)(nil)

// InfraError means that hone could not carry out a plan for a reason other than the user's commands. If the user can do
// something about it, a problem.Problem is in the chain.
type InfraError struct {
	// Step names the step that failed: "copy files to web".
	Step string
	Err  error
}

// Error returns step and cause.
func (e *InfraError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *InfraError) Unwrap() error { return e.Err }

var _ error = (*InfraError)(nil)

// BlockedError means that hone could not carry out a plan, and that neither another way nor a new image would help: the
// disk in the container is full. If the user can do something about it, a problem.Problem is in the chain.
type BlockedError struct {
	// Step names the step that failed: "copy files to web".
	Step string
	Err  error
}

// Error returns step and cause.
func (e *BlockedError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *BlockedError) Unwrap() error { return e.Err }

var _ error = (*BlockedError)(nil)

// RunStepError means that a command of the user failed in the container. Its output is in the log already. The files are
// in place, and nothing falls back: the next change tries again.
type RunStepError struct {
	Cmd model.Cmd
	// Code is the exit code, never 0 or 137.
	Code      int
	Container model.ContainerRef
}

// Error names command, container and code.
func (e *RunStepError) Error() string {
	return fmt.Sprintf("run %s in container %s: exit code %d", e.Cmd.Quoted(), e.Container.Name, e.Code)
}

var _ error = (*RunStepError)(nil)

// StartError means that the container's process could not be restarted: after the change it is not a program that runs.
// The files are in place, and nothing falls back: the next change tries again.
type StartError struct {
	Container model.ContainerRef
	// Reason is the supervisor's reason.
	Reason string
}

// Error names the container and the reason.
func (e *StartError) Error() string {
	return fmt.Sprintf("start the process in container %s: %s", e.Container.Name, e.Reason)
}

var _ error = (*StartError)(nil)

// IsUserError reports whether err is a failure of the user's command or program, so that the files are in place
// nevertheless.
func IsUserError(err error) bool {
	var run *RunStepError
	var start *StartError
	return errors.As(err, &run) || errors.As(err, &start)
}

// Outcome is the consequence of the error of a plan or an update for the next step.
type Outcome int8

// The outcomes.
const (
	// Updated means that there was no error.
	Updated Outcome = iota
	// UserError is the user's own failing command or program: show it, keep the files, wait for the next change.
	UserError
	// FallBack is a change that needs a new image.
	FallBack
	// Cancelled is work that was cancelled: neither show nor fall back.
	Cancelled
	// Blocked is an error that no other way avoids: show it, do not fall back, and try again with the next change.
	Blocked
	// Infra is any other error: show it and fall back to an image.
	Infra
)

// String returns the outcome in words.
func (o Outcome) String() string {
	switch o {
	case Updated:
		return "updated"
	case UserError:
		return "user error"
	case FallBack:
		return "fall back"
	case Cancelled:
		return "cancelled"
	case Blocked:
		return "blocked"
	case Infra:
	}
	return "infrastructure error"
}

// Classify returns the outcome for an error of Make, InitialPlan or Update. A missed deadline is Infra, not Cancelled.
func Classify(err error) Outcome {
	var fallBack *FallBackError
	var blocked *BlockedError
	switch {
	case err == nil:
		return Updated
	case errors.Is(err, context.Canceled):
		return Cancelled
	case IsUserError(err):
		return UserError
	case errors.As(err, &fallBack):
		return FallBack
	case errors.As(err, &blocked):
		return Blocked
	}
	return Infra
}
