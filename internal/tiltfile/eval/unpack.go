package eval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/tiltfile/language"
)

// ArgumentPlace identifies an argument of a call: its keyword, or its position from 0 where it has none.
type ArgumentPlace struct {
	Keyword  string
	Position int
}

// NoArgument is the place of a missing argument.
var NoArgument = ArgumentPlace{Position: -1}

// ArgumentFault is an error in one argument.
type ArgumentFault struct {
	At  ArgumentPlace
	Err error
}

// ArgumentsError holds all errors in the arguments of a call.
type ArgumentsError struct {
	builtin string
	Faults  []ArgumentFault
}

var _ error = (*ArgumentsError)(nil)

// Error returns the builtin and all errors in one line.
func (e *ArgumentsError) Error() string {
	texts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		texts[i] = f.Err.Error()
	}
	return e.builtin + ": " + strings.Join(texts, "; ")
}

// Unwrap returns the causes.
func (e *ArgumentsError) Unwrap() []error {
	out := make([]error, len(e.Faults))
	for i, f := range e.Faults {
		out[i] = f.Err
	}
	return out
}

// param is a parameter of a builtin: its name, whether it may be left out, and whether None counts as left out.
type param struct {
	name               string
	optional, skipNone bool
	target             any
}

// parseParams reads the pairs of names and variables that Unpack takes. All parameters after an optional one are
// optional.
func parseParams(pairs []any) []param {
	out := make([]param, len(pairs)/2)
	for i := range out {
		name := pairs[2*i].(string)
		p := param{name: strings.TrimRight(name, "?"), target: pairs[2*i+1]}
		p.optional = p.name != name || i > 0 && out[i-1].optional
		p.skipNone = strings.HasSuffix(name, "??")
		out[i] = p
	}
	return out
}

// Unpack assigns the arguments to variables by the rules of starlark.UnpackArgs: "name", &v is a parameter that must be
// given, "name?" one that may be left out, and "name??" one for which None also counts as left out. All errors of the
// call are returned in one error, each with its reason. For a misspelled keyword, the error suggests the one that was
// probably meant.
func (c *Call) Unpack(pairs ...any) error {
	if c.declared != nil {
		c.declared(pairs)
		return errDeclared
	}
	u := unpacker{call: c, params: parseParams(pairs)}
	u.given = make([]bool, len(u.params))
	c.params = make([]string, len(u.params))
	for i, p := range u.params {
		c.params[i] = p.name
	}
	u.positional()
	for _, kw := range c.Kwargs {
		u.keyword(string(kw[0].(starlark.String)), kw[1])
	}
	u.missing()
	if len(u.faults) > 0 {
		return &ArgumentsError{c.Name, u.faults}
	}
	return nil
}

// unpacker is the unpacking of one call.
type unpacker struct {
	call   *Call
	params []param
	given  []bool
	faults []ArgumentFault
	// misspelled are the parameters for which misspelled keywords were probably meant.
	misspelled []string
}

func (u *unpacker) fault(at ArgumentPlace, format string, args ...any) {
	u.faults = append(u.faults, ArgumentFault{at, fmt.Errorf(format, args...)})
}

func (u *unpacker) positional() {
	for i, v := range u.call.Args {
		at := ArgumentPlace{Position: i}
		if i == len(u.params) {
			u.fault(at, "got %d arguments without a keyword, want at most %d%s", len(u.call.Args), len(u.params), u.takes())
			return
		}
		u.assign(i, at, v)
	}
}

func (u *unpacker) keyword(name string, v starlark.Value) {
	i := u.index(name)
	if i < 0 {
		i = u.index(language.OtherNames[name])
	}
	at := ArgumentPlace{Keyword: name}
	switch {
	case i < 0:
		if n := u.meant(name); n != "" {
			u.misspelled = append(u.misspelled, n)
			u.fault(at, "unexpected argument %q (did you mean %s?)", name, n)
			return
		}
		u.fault(at, "unexpected argument %q%s", name, u.takes())
	case u.given[i]:
		u.fault(at, "%s: this argument is given twice", u.params[i].name)
	default:
		u.assign(i, at, v)
	}
}

// meant returns the parameter for which a misspelled keyword was probably meant, by either of its names, or "".
func (u *unpacker) meant(name string) string {
	if n := suggest.Nearest(name, u.call.params); n != "" {
		return n
	}
	var others []string
	for _, other := range slices.Sorted(maps.Keys(language.OtherNames)) {
		if u.index(language.OtherNames[other]) >= 0 {
			others = append(others, other)
		}
	}
	return language.OtherNames[suggest.Nearest(name, others)]
}

// takes lists the parameters, for error messages.
func (u *unpacker) takes() string {
	if len(u.call.params) == 0 {
		return " (it takes none)"
	}
	return fmt.Sprintf(" (it takes %s)", strings.Join(u.call.params, ", "))
}

func (u *unpacker) index(name string) int {
	for i, p := range u.params {
		if p.name == name {
			return i
		}
	}
	return -1
}

func (u *unpacker) assign(i int, at ArgumentPlace, v starlark.Value) {
	u.given[i] = true
	p := u.params[i]
	if _, none := v.(starlark.NoneType); none && p.skipNone {
		return
	}
	if err := starlark.UnpackArg(v, p.target); err != nil {
		u.faults = append(u.faults, ArgumentFault{at, fmt.Errorf("%s: %w", p.name, plainWant(err, v, p.target))})
	}
}

// plainWant rewords an error of the interpreter about a value of the wrong type in the terms of Tiltfiles.
func plainWant(err error, v starlark.Value, target any) error {
	switch target.(type) {
	case *int, *int32, *int64, *uint, *uint16:
		if _, ok := v.(starlark.Int); !ok {
			return fmt.Errorf("got %s, want int", v.Type())
		}
	case *starlark.Callable:
		return fmt.Errorf("got %s, want a function", v.Type())
	case *starlark.Iterable:
		return fmt.Errorf("got %s, want a list", v.Type())
	}
	return err
}

// missing reports required parameters that were not given. Parameters with a misspelled keyword are reported already.
func (u *unpacker) missing() {
next:
	for i, p := range u.params {
		if p.optional {
			return
		}
		if u.given[i] {
			continue
		}
		for _, n := range u.misspelled {
			if n == p.name {
				continue next
			}
		}
		u.faults = append(u.faults, ArgumentFault{NoArgument, errors.New("missing argument for " + p.name)})
	}
}

// place returns the place of a parameter's argument in the call.
func (c *Call) place(param int) ArgumentPlace {
	if param < len(c.Args) {
		return ArgumentPlace{Position: param}
	}
	for _, kw := range c.Kwargs {
		if name := string(kw[0].(starlark.String)); name == c.params[param] || language.OtherNames[name] == c.params[param] {
			return ArgumentPlace{Keyword: name}
		}
	}
	return NoArgument
}

// Takes returns the parameters of a builtin, as pairs of names and variables like the ones that Unpack takes. unpacks
// is false for builtins that do not use Unpack. The builtin has no effect.
func (e *Evaluation) Takes(name string, fn Function) (pairs []any, unpacks bool) {
	c := &Call{Evaluation: e, Name: name, declared: func(p []any) { pairs, unpacks = p, true }}
	_, _ = fn(c)
	return pairs, unpacks
}
