package dialect

import (
	"fmt"

	"go.starlark.net/starlark"
)

// Functions, operators and methods of Starlark do all their work in one step, which nothing can interrupt: a wrong factor
// is enough to fill the machine's memory. The versions of this file refuse what would take too long or become too large.

// Universe returns Starlark's functions that need a bound, and the functions that Program puts in the place of operators
// and methods.
func Universe() starlark.StringDict {
	out := starlark.StringDict{}
	for name, fn := range map[string]builtin{methodName: guardMethod, keyName: guardKey, argsName: guardArgs, "getattr": attribute} {
		out[name] = starlark.NewBuiltin(name, fn)
	}
	for _, name := range []string{"all", "any", "bytes", "enumerate", "list", "reversed", "tuple", "zip"} {
		out[name] = guarded(name, fewValues)
	}
	for _, name := range []string{"max", "min", "sorted"} {
		out[name] = ordering(guarded(name, fewToCompare))
	}
	out["dict"] = guarded("dict", fewKeys(first))
	out["set"] = guarded("set", fewKeys(itself))
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

type builtin = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

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
	if n := count(v); n > MostValues {
		return fmt.Errorf("%d values are more than %d, which is the most that it takes", n, MostValues)
	}
	return nil
}

// fewToCompare refuses a sequence that would take too long to order.
func fewToCompare(v starlark.Value) error {
	if err := fewValues(v); err != nil {
		return err
	}
	return size{textLen(v), compared}.refused()
}

// fewKeys refuses a sequence that would make too large a set or dictionary.
func fewKeys(keyOf func(starlark.Value) starlark.Value) func(starlark.Value) error {
	return func(v starlark.Value) error {
		if err := fewValues(v); err != nil {
			return err
		}
		return hashingEach(v, keyOf).refused()
	}
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
func FewText(v starlark.Value) error { return size{textLen(v), text}.refused() }
