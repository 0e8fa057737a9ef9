package command

import (
	"context"
	"errors"
)

// The exit codes. ExitInterrupted is the code that shells expect of a process that Ctrl-C ended.
const (
	ExitOK      = 0
	ExitFailure = 1
	// ExitTiltfile means that hone itself is fine, but the Tiltfile has an error.
	ExitTiltfile = 5
	// ExitTimeout is the exit code of timeout(1).
	ExitTimeout     = 124
	ExitInterrupted = 130
)

// coded is an error that ends the process with a code of its own.
type coded struct {
	error
	code int
}

var _ error = coded{}

// Unwrap returns the cause.
func (c coded) Unwrap() error { return c.error }

// WithCode returns an error that makes the process exit with a code; nil for nil.
func WithCode(err error, code int) error {
	if err == nil {
		return nil
	}
	return coded{err, code}
}

// AlreadyPrinted returns an error that makes the process exit with a code and prints nothing more.
func AlreadyPrinted(err error, code int) error { return reported{coded{err, code}} }

// WasPrinted reports whether an error comes from AlreadyPrinted.
func WasPrinted(err error) bool { return errors.As(err, new(reported)) }

// reported is an error that was printed already.
type reported struct{ coded }

// ExitCode returns the code with which the process exits after a command returned err. An interrupt cancels ctx.
func ExitCode(ctx context.Context, err error) int {
	var c coded
	var r reported
	switch {
	case err == nil:
		return ExitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &r):
		return r.code
	case errors.As(err, &c):
		return c.code
	}
	return ExitFailure
}
