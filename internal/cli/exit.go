package cli

import (
	"context"
	"errors"
)

// The exit codes. Interrupted is what shells expect of a process that was ended by Ctrl-C.
const (
	exitOK      = 0
	exitFailure = 1
	// exitTiltfile says that hone itself is fine, but that the Tiltfile has a fault.
	exitTiltfile = 5
	// exitTimeout is what timeout(1) ends with.
	exitTimeout     = 124
	exitInterrupted = 130
)

// coded is an error that ends the process with a code of its own.
type coded struct {
	error
	code int
}

var _ error = coded{}

// Unwrap returns the cause.
func (c coded) Unwrap() error { return c.error }

// withCode makes the process end with a code when a command returns the error.
func withCode(err error, code int) error { return coded{err, code} }

// alreadyPrinted makes the process end with a code, and without a word about the error.
func alreadyPrinted(err error, code int) error { return reported{coded{err, code}} }

// wasPrinted reports whether nothing more is to be said about an error.
func wasPrinted(err error) bool { return errors.As(err, new(reported)) }

// reported is an error that was printed already.
type reported struct{ coded }

// exitCode is the code that a command's error ends the process with. ctx is the one that an interrupt cancels.
func exitCode(ctx context.Context, err error) int {
	var c coded
	var r reported
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &r):
		return r.code
	case errors.As(err, &c):
		return c.code
	}
	return exitFailure
}
