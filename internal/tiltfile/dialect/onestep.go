package dialect

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Functions, operators and methods of Starlark do all their work in one step, which nothing can interrupt: a wrong factor
// is enough to fill the machine's memory. The versions of this file refuse what would take too long or become too large.

// Universe returns Starlark's functions that need a bound, and the functions that Program puts in the place of operators
// and methods.
func Universe() starlark.StringDict {
	out := starlark.StringDict{guardName: starlark.NewBuiltin(guardName, guardMethod)}
	for _, name := range []string{"all", "any", "bytes", "dict", "enumerate", "list", "max", "min", "reversed", "set", "sorted", "tuple", "zip"} {
		out[name] = guarded(name, fewValues)
	}
	for _, name := range []string{"print", "repr", "str"} {
		out[name] = guarded(name, FewText)
	}
	out["int"] = guarded("int", fewDigits)
	for op := range operators {
		out[op.String()] = operator(op)
		out[op.String()+"="] = operand(op)
	}
	return out
}

// guarded returns a function of Starlark that checks each argument first.
func guarded(name string, check func(starlark.Value) error) *starlark.Builtin {
	fn := starlark.Universe[name].(*starlark.Builtin)
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for _, arg := range args {
			if err := check(arg); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return fn.CallInternal(thread, args, kwargs)
	})
}

// fewValues refuses a sequence of too many values, such as range(1 << 40).
func fewValues(v starlark.Value) error {
	if s, ok := v.(starlark.Sequence); ok && s.Len() > MostValues {
		return fmt.Errorf("%d values are more than %d, which is the most that it takes", s.Len(), MostValues)
	}
	return nil
}

// fewDigits refuses texts that are too long to parse as a number: the time for that grows with the square of the
// length.
func fewDigits(v starlark.Value) error {
	if text, ok := starlark.AsString(v); ok && len(text) > MostDigits {
		return fmt.Errorf("a number of %d characters is longer than %d, which is the most that it takes", len(text), MostDigits)
	}
	return nil
}

// FewText refuses a value whose text would be too long. A value counts once for each place where its text appears.
func FewText(v starlark.Value) error { return bytesOf(textLen(v)).refused() }

// guardName is the name of guardMethod in programs.
const guardName = "."

// guardMethod returns the method that it is given, which checks its arguments first if it is a method of texts that needs to.
func guardMethod(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	method, ok := args[0].(*starlark.Builtin)
	if !ok {
		return args[0], nil
	}
	text, ok := method.Receiver().(starlark.String)
	if !ok {
		return method, nil
	}
	measure := methods[method.Name()]
	return starlark.NewBuiltin(method.Name(), func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := measure(string(text), args, kwargs).refused(); err != nil {
			return nil, fmt.Errorf("%s: %w", method.Name(), err)
		}
		return method.CallInternal(thread, args, kwargs)
	}).BindReceiver(text), nil
}

// operator returns the function for x OP y.
func operator(op syntax.Token) *starlark.Builtin {
	return starlark.NewBuiltin(op.String(), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		if err := operators[op](args[0], args[1]).refused(); err != nil {
			return nil, err
		}
		return starlark.Binary(op, args[0], args[1])
	})
}

// operand returns the function that checks x OP= y, and returns y.
func operand(op syntax.Token) *starlark.Builtin {
	return starlark.NewBuiltin(op.String()+"=", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[1], operators[op](args[0], args[1]).refused()
	})
}
