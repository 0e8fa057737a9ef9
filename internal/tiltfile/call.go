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
	*state
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
	// declared, when not nil, is told what the builtin takes, in place of its arguments being unpacked. Tests compare it
	// with the documentation.
	declared func(pairs []any)
	// params are the names of the parameters, once unpack has been told.
	params []string
}

// errDeclared ends a call that was only made to be told what the builtin takes.
var errDeclared = errors.New("only asked what it takes")

// function is the Go side of a builtin. The name of the builtin is put before the errors that it returns.
type function func(c *call) (starlark.Value, error)

// bind makes a Starlark builtin of a function.
func (s *state) bind(name string, fn function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &call{state: s, name: name, args: args, kwargs: kwargs}
		s.profile.enter()
		v, err := fn(c)
		s.profile.leave(name, c.site)
		if err == nil && v == nil {
			v = starlark.None
		}
		return v, c.blame(err)
	})
}

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

// callSite is the innermost place of the user's program that has been reached.
func (s *state) callSite() site {
	stack := make(starlark.CallStack, 0, s.thread.CallStackDepth())
	for i := s.thread.CallStackDepth() - 1; i >= 0; i-- {
		stack = append(stack, s.thread.CallFrame(i))
	}
	if len(stack) > 0 && !inProgram(stack.At(0).Pos) {
		stack.Pop() // the builtin
	}
	at := innermost(stack)
	if at.file == "" {
		return site{file: s.file()}
	}
	at.calls = &stack
	return at
}
