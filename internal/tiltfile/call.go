package tiltfile

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/language"
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
		return v, named(name, err)
	})
}

// named puts a builtin's name before an error that does not say yet where it comes from.
func named(name string, err error) error {
	var placed *Error
	var eval *starlark.EvalError
	switch {
	case err == nil, errors.Is(err, errExit), errors.As(err, &placed), errors.As(err, &eval), errors.As(err, new(failure)):
		return err
	case strings.HasPrefix(err.Error(), name+":"):
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// site is where the call stands in the Tiltfile. Calls that an extension of hone makes stand where it was called.
func (c *call) site() site { return c.callSite() }

// callSite is the innermost place of the user's program that has been reached.
func (s *state) callSite() site {
	stack := make(starlark.CallStack, 0, s.thread.CallStackDepth())
	for i := s.thread.CallStackDepth() - 1; i >= 0; i-- {
		stack = append(stack, s.thread.CallFrame(i))
	}
	if at := innermost(stack); at.file != "" {
		return at
	}
	return site{file: s.file()}
}

// unpack assigns the arguments to variables, as starlark.UnpackArgs does. A misspelled keyword is answered with the one
// that was probably meant.
func (c *call) unpack(pairs ...any) error {
	if c.declared != nil {
		c.declared(pairs)
		return errDeclared
	}
	names := make([]string, 0, len(pairs)/2)
	known := make(map[string]bool, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		n := strings.TrimRight(pairs[i].(string), "?")
		names, known[n] = append(names, n), true
	}
	kwargs := make([]starlark.Tuple, len(c.kwargs))
	for i, kw := range c.kwargs {
		n := string(kw[0].(starlark.String))
		kwargs[i] = kw
		if known[n] {
			continue
		}
		if other := language.OtherNames[n]; known[other] {
			kwargs[i] = starlark.Tuple{starlark.String(other), kw[1]}
			continue
		}
		hint := didYouMean(n, names)
		if hint == "" {
			hint = fmt.Sprintf(" (it takes %s)", strings.Join(names, ", "))
		}
		return fmt.Errorf("unexpected argument %q%s", n, hint)
	}
	return starlark.UnpackArgs(c.name, c.args, kwargs, pairs...)
}
