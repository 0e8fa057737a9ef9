package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// Call is one call of a builtin.
type Call struct {
	*Evaluation
	Name   string
	Args   starlark.Tuple
	Kwargs []starlark.Tuple
	// declared, when not nil, is told what the builtin takes, in place of its arguments being unpacked.
	declared func(pairs []any)
	// params are the names of the parameters, once Unpack has been told.
	params []string
}

// errDeclared ends a call that was only made to be told what the builtin takes.
var errDeclared = errors.New("only asked what it takes")

// Function is the Go side of a builtin. The name of the builtin is put before the errors that it returns.
type Function func(c *Call) (starlark.Value, error)

// blame puts the builtin's name before an error that does not say yet where it comes from. An error that begins with the
// name of a parameter is put down to that argument.
func (c *Call) blame(err error) error {
	var placed *fault.Error
	var eval *starlark.EvalError
	switch {
	case err == nil, errors.Is(err, ErrExit), errors.As(err, &placed), errors.As(err, &eval), errors.As(err, new(Failure)):
		return err
	case strings.HasPrefix(err.Error(), c.Name+":"):
		return err
	}
	if param, _, ok := strings.Cut(err.Error(), ":"); ok {
		if i := slices.Index(c.params, param); i >= 0 {
			return &ArgumentsError{c.Name, []ArgumentFault{{c.place(i), err}}}
		}
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}

// Site is where the call stands in the Tiltfile. Calls that an extension of hone makes stand where it was called.
func (c *Call) Site() fault.Site { return c.callSite() }

// ErrExit ends the evaluation of every file without being an error.
var ErrExit = errors.New("exit")

// Failure is what fail() says. It stands alone: the user wrote it for the user.
type Failure string

// Error returns the message.
func (f Failure) Error() string { return string(f) }
