package dialect

import (
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A size is a lower bound of a result, in bytes or values, with the most that it may have.
type size struct {
	n, most int
	allowed string
}

// refused is an error for a size beyond its limit.
func (s size) refused() error {
	if s.n <= s.most {
		return nil
	}
	return fmt.Errorf("the result has more than %s, which is the most that one step of a Tiltfile may make", s.allowed)
}

func bytesOf(n int) size  { return size{n, mostText, "64 MiB"} }
func valuesOf(n int) size { return size{n, MostValues, "5000000 values"} }

// sizeOf measures a value of which operators make longer ones; others have no limit.
func sizeOf(v starlark.Value) size {
	switch v := v.(type) {
	case starlark.String:
		return bytesOf(len(v))
	case starlark.Bytes:
		return bytesOf(len(v))
	case *starlark.List:
		return valuesOf(v.Len())
	case starlark.Tuple:
		return valuesOf(v.Len())
	}
	return size{most: math.MaxInt}
}

// times multiplies without overflow.
func (s size) times(n int) size {
	if n > 0 && s.n > math.MaxInt/n {
		s.n = math.MaxInt
	} else {
		s.n *= max(0, n)
	}
	return s
}

func (s size) plus(n int) size {
	s.n += n
	return s
}

// operators measure the result of the operators that may make a value of any size.
var operators = map[syntax.Token]func(x, y starlark.Value) size{
	syntax.PLUS:    func(x, y starlark.Value) size { return sizeOf(x).plus(sizeOf(y).n) },
	syntax.STAR:    repetition,
	syntax.PERCENT: interpolation,
}

// repetition measures x * y; either may be the number.
func repetition(x, y starlark.Value) size {
	if _, ok := x.(starlark.Int); ok {
		x, y = y, x
	}
	count, ok := y.(starlark.Int)
	if !ok {
		return sizeOf(x)
	}
	n, ok := count.Int64()
	if !ok {
		n = math.MaxInt32 * int64(count.Sign()) // Starlark refuses it
	}
	return sizeOf(x).times(int(min(n, math.MaxInt32)))
}

// interpolation measures x % y. A tuple has a value for each place in the text; a value with a name may have any number.
func interpolation(x, y starlark.Value) size {
	text, ok := x.(starlark.String)
	if !ok {
		return size{most: math.MaxInt}
	}
	places := 1
	if _, named := y.(starlark.Mapping); named {
		places = strings.Count(string(text), "%(")
	}
	return bytesOf(textLen(y)).times(places).plus(len(text))
}

// methods measure the results of the methods of texts that may make a value of any size.
var methods = map[string]func(text string, args starlark.Tuple, kwargs []starlark.Tuple) size{
	"format": func(text string, args starlark.Tuple, kwargs []starlark.Tuple) size {
		longest := 0
		for _, arg := range args {
			longest = max(longest, textLen(arg))
		}
		for _, kw := range kwargs {
			longest = max(longest, textLen(kw[1]))
		}
		return bytesOf(longest).times(strings.Count(text, "{")).plus(len(text))
	},
	"join": func(text string, args starlark.Tuple, _ []starlark.Tuple) size {
		sum := bytesOf(0)
		if len(args) == 1 {
			if list, ok := args[0].(starlark.Sequence); ok {
				sum = sum.plus(len(text)).times(list.Len())
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
	},
	"replace": func(text string, args starlark.Tuple, _ []starlark.Tuple) size {
		if len(args) < 2 {
			return bytesOf(0)
		}
		before, _ := starlark.AsString(args[0])
		after, _ := starlark.AsString(args[1])
		return bytesOf(max(0, len(after)-len(before))).times(strings.Count(text, before)).plus(len(text))
	},
	"rsplit": pieces,
	"split":  pieces,
	"splitlines": func(text string, _ starlark.Tuple, _ []starlark.Tuple) size {
		return valuesOf(strings.Count(text, "\n"))
	},
}

// pieces measures the pieces of a text between separators, or between blanks.
func pieces(text string, args starlark.Tuple, _ []starlark.Tuple) size {
	if len(args) > 0 {
		if separator, ok := starlark.AsString(args[0]); ok && separator != "" {
			return valuesOf(strings.Count(text, separator))
		}
	}
	return valuesOf(strings.Count(text, " ") + strings.Count(text, "\n") + strings.Count(text, "\t"))
}
