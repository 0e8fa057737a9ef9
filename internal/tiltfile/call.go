package tiltfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// call is one call of a builtin.
type call struct {
	*evaluation
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
	// declared, when not nil, is told what the builtin takes, in place of its arguments being unpacked.
	declared func(pairs []any)
	// params are the names of the parameters, once unpack has been told.
	params []string
}

// errDeclared ends a call that was only made to be told what the builtin takes.
var errDeclared = errors.New("only asked what it takes")

// function is the Go side of a builtin. The name of the builtin is put before the errors that it returns.
type function func(c *call) (starlark.Value, error)

// blame puts the builtin's name before an error that does not say yet where it comes from. An error that begins with the
// name of a parameter is put down to that argument.
func (c *call) blame(err error) error {
	var placed *Error
	var eval *starlark.EvalError
	switch {
	case err == nil, errors.Is(err, errExit), errors.As(err, &placed), errors.As(err, &eval), errors.As(err, new(failure)):
		return err
	case strings.HasPrefix(err.Error(), c.name+":"):
		return err
	}
	if param, _, ok := strings.Cut(err.Error(), ":"); ok {
		if i := slices.Index(c.params, param); i >= 0 {
			return &argsError{c.name, []argFault{{c.place(i), err}}}
		}
	}
	return fmt.Errorf("%s: %w", c.name, err)
}

// site is where the call stands in the Tiltfile. Calls that an extension of hone makes stand where it was called.
func (c *call) site() site { return c.callSite() }

// errExit ends the evaluation of every file without being an error.
var errExit = errors.New("exit")

// failure is what fail() says. It stands alone: the user wrote it for the user.
type failure string

func (f failure) Error() string { return string(f) }
