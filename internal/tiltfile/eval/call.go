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
	// declared, when not nil, receives the builtin's parameters; the arguments are then not unpacked.
	declared func(pairs []any)
	// params are the names of the parameters, set by Unpack.
	params []string
}

// errDeclared ends a call that was made only to learn the builtin's parameters.
var errDeclared = errors.New("called only for its parameters")

// Function is the Go side of a builtin. Bind puts the name of the builtin before the errors that it returns.
type Function func(c *Call) (starlark.Value, error)

// blame puts the builtin's name before an error that does not name its origin yet. An error that begins with the name
// of a parameter is attributed to that argument.
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

// Site is the place of the call in the Tiltfile. A call by an extension that is part of hone has the place where the
// extension was called.
func (c *Call) Site() fault.Site { return c.callSite() }

// ErrExit ends the evaluation of every file without being an error.
var ErrExit = errors.New("exit")

// Failure is the message of fail(). It is shown as it is: the user wrote it for the user.
type Failure string

// Error returns the message.
func (f Failure) Error() string { return string(f) }
