package dialect

import (
	"strings"

	"go.starlark.net/starlark"
)

// A method is a method of a type of values.
type method struct{ of, name string }

// methods measure the methods that may make or inspect a value of any size.
var methods = map[method]func(of starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) size{
	{"dict", "get"}:                 lookup,
	{"dict", "pop"}:                 lookup,
	{"dict", "setdefault"}:          lookup,
	{"dict", "update"}:              lookups(first),
	{"list", "extend"}:              extension,
	{"list", "index"}:               search,
	{"list", "remove"}:              search,
	{"set", "add"}:                  lookup,
	{"set", "difference"}:           lookups(itself),
	{"set", "discard"}:              lookup,
	{"set", "intersection"}:         lookups(itself),
	{"set", "issubset"}:             lookups(itself),
	{"set", "issuperset"}:           lookups(itself),
	{"set", "remove"}:               lookup,
	{"set", "symmetric_difference"}: lookups(itself),
	{"set", "union"}:                lookups(itself),
	{"set", "update"}:               lookups(itself),
	{"string", "format"}: ofText(func(s string, args starlark.Tuple, kwargs []starlark.Tuple) size {
		longest := 0
		for _, arg := range args {
			longest = max(longest, textLen(arg))
		}
		for _, kw := range kwargs {
			longest = max(longest, textLen(kw[1]))
		}
		return size{longest, text}.times(strings.Count(s, "{")).plus(len(s))
	}),
	{"string", "join"}: ofText(func(s string, args starlark.Tuple, _ []starlark.Tuple) size {
		sum := size{0, text}
		if len(args) == 1 {
			if list, ok := args[0].(starlark.Sequence); ok {
				sum = sum.plus(len(s)).times(list.Len())
			}
			if elements, ok := args[0].(starlark.Iterable); ok {
				for e := range starlark.Elements(elements) {
					if sum = sum.plus(sizeOf(e).n); sum.refused() != nil {
						break
					}
				}
			}
		}
		return sum
	}),
	{"string", "replace"}: ofText(func(s string, args starlark.Tuple, _ []starlark.Tuple) size {
		if len(args) < 2 {
			return size{0, text}
		}
		before, _ := starlark.AsString(args[0])
		after, _ := starlark.AsString(args[1])
		return size{max(0, len(after)-len(before)), text}.times(strings.Count(s, before)).plus(len(s))
	}),
	{"string", "rsplit"}: ofText(pieces),
	{"string", "split"}:  ofText(pieces),
	{"string", "splitlines"}: ofText(func(s string, _ starlark.Tuple, _ []starlark.Tuple) size {
		return size{strings.Count(s, "\n"), values}
	}),
}

// measured are the names of all methods that are measured.
var measured = func() map[string]bool {
	names := map[string]bool{}
	for m := range methods {
		names[m.name] = true
	}
	return names
}()

// ofText adapts a measure of a method of texts.
func ofText(measure func(s string, args starlark.Tuple, kwargs []starlark.Tuple) size) func(starlark.Value, starlark.Tuple, []starlark.Tuple) size {
	return func(of starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) size {
		s, _ := starlark.AsString(of)
		return measure(s, args, kwargs)
	}
}

// lookup measures a method whose first argument is a key.
func lookup(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) size {
	if len(args) == 0 {
		return size{0, none}
	}
	return hashing(args[0])
}

// lookups measures a method whose arguments are sequences with keys.
func lookups(keyOf func(starlark.Value) starlark.Value) func(starlark.Value, starlark.Tuple, []starlark.Tuple) size {
	return func(_ starlark.Value, args starlark.Tuple, _ []starlark.Tuple) size {
		sum := size{0, none}
		for _, arg := range args {
			if sum = hashingEach(arg, keyOf); sum.refused() != nil {
				break
			}
		}
		return sum
	}
}

// extension measures a list that takes in a sequence.
func extension(of starlark.Value, args starlark.Tuple, _ []starlark.Tuple) size {
	sum := sizeOf(of)
	for _, arg := range args {
		sum = sum.plus(count(arg))
	}
	return sum
}

// search measures a method of a list that looks for its argument.
func search(of starlark.Value, args starlark.Tuple, _ []starlark.Tuple) size {
	if len(args) == 0 {
		return size{0, none}
	}
	return membership(args[0], of)
}

// pieces measures the pieces of a text between separators, or between blanks.
func pieces(s string, args starlark.Tuple, _ []starlark.Tuple) size {
	if len(args) > 0 {
		if separator, ok := starlark.AsString(args[0]); ok && separator != "" {
			return size{strings.Count(s, separator), values}
		}
	}
	return size{strings.Count(s, " ") + strings.Count(s, "\n") + strings.Count(s, "\t"), values}
}
