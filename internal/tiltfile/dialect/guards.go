package dialect

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The names of the functions that Program puts around methods, keys, and arguments such as *args.
const (
	methodName = "."
	keyName    = "[]"
	argsName   = "*args"
)

// guardMethod returns the method that it is given, which checks its arguments first if it needs to.
func guardMethod(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	fn, ok := args[0].(*starlark.Builtin)
	if !ok || fn.Receiver() == nil {
		return args[0], nil
	}
	of := fn.Receiver()
	measure := methods[method{of.Type(), fn.Name()}]
	if measure == nil {
		return fn, nil
	}
	return starlark.NewBuiltin(fn.Name(), func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := measure(of, args, kwargs).refused(); err != nil {
			return nil, fmt.Errorf("%s: %w", fn.Name(), err)
		}
		return fn.CallInternal(thread, args, kwargs)
	}).BindReceiver(of), nil
}

// attribute is getattr, which yields methods, too.
func attribute(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Universe["getattr"].(*starlark.Builtin).CallInternal(thread, args, kwargs)
	if err != nil {
		return nil, err
	}
	return guardMethod(thread, b, starlark.Tuple{v}, nil)
}

// guardKey returns the key that it is given.
func guardKey(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return args[0], hashing(args[0]).refused()
}

// guardArgs returns the sequence of arguments that it is given.
func guardArgs(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return args[0], fewValues(args[0])
}

// ordering returns a function that orders values, and counts the results of the function by which it orders them.
func ordering(fn *starlark.Builtin) *starlark.Builtin {
	return starlark.NewBuiltin(fn.Name(), func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		sum := size{0, compared}
		for i, arg := range args {
			args[i] = counting(arg, &sum)
		}
		for _, kw := range kwargs {
			kw[1] = counting(kw[1], &sum)
		}
		return fn.CallInternal(thread, args, kwargs)
	})
}

// counting returns a function that adds the size of its results to a sum. Other values stay.
func counting(v starlark.Value, sum *size) starlark.Value {
	by, ok := v.(starlark.Callable)
	if !ok {
		return v
	}
	return starlark.NewBuiltin(by.Name(), func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		result, err := starlark.Call(thread, by, args, kwargs)
		if err != nil {
			return nil, err
		}
		*sum = sum.plus(textLen(result))
		return result, sum.refused()
	})
}

// operator returns the function for x OP y.
func operator(op syntax.Token) *starlark.Builtin {
	return starlark.NewBuiltin(op.String(), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		if err := operators[op](args[0], args[1]).refused(); err != nil {
			return nil, err
		}
		return apply(op, args[0], args[1])
	})
}

// comparisons are the operators that compare two values.
var comparisons = []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE}

// apply carries out an operator.
func apply(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if slices.Contains(comparisons, op) {
		is, err := starlark.Compare(op, x, y)
		return starlark.Bool(is), err
	}
	if op == syntax.NOT_IN {
		in, err := starlark.Binary(syntax.IN, x, y)
		if err != nil {
			return nil, err
		}
		return !in.Truth(), nil
	}
	return starlark.Binary(op, x, y)
}

// operand returns the function that checks x OP= y, and returns y.
func operand(op syntax.Token) *starlark.Builtin {
	return starlark.NewBuiltin(op.String()+"=", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[1], operators[op](args[0], args[1]).refused()
	})
}
