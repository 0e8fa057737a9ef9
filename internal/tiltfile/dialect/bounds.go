package dialect

import (
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A limit bounds what one step may do with values.
type limit struct {
	most                   int
	subject, allowed, verb string
}

var (
	text     = limit{mostText, "the result has", "64 MiB", "make"}
	values   = limit{MostValues, "the result has", "5000000 values", "make"}
	digits   = limit{MostDigits, "the result has", "10000 digits", "make"}
	compared = limit{mostText, "the values have", "64 MiB", "compare"}
	hashed   = limit{mostText, "the key has", "64 MiB", "look up"}
	none     = limit{most: math.MaxInt}
)

// A size is a lower bound of a result or of the values that a step inspects, in bytes, values or digits, with its limit.
type size struct {
	n int
	limit
}

// refused is an error for a size beyond its limit.
func (s size) refused() error {
	if s.n <= s.most {
		return nil
	}
	return fmt.Errorf("%s more than %s, which is the most that one step of a Tiltfile may %s", s.subject, s.allowed, s.verb)
}

// sizeOf measures a value of which operators make larger ones; others have no limit.
func sizeOf(v starlark.Value) size {
	switch v := v.(type) {
	case starlark.String:
		return size{len(v), text}
	case starlark.Bytes:
		return size{len(v), text}
	case starlark.Int:
		return size{digitsOf(v), digits}
	case starlark.Sequence:
		return size{v.Len(), values}
	}
	return size{0, none}
}

// digitsOf is a lower bound of the digits of a number that is not small; each digit takes more than three bits.
func digitsOf(i starlark.Int) int {
	if _, small := i.Int64(); small {
		return 0
	}
	return i.BigInt().BitLen() * 3 / 10
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

// operators measure the operators that may make or inspect a value of any size.
var operators = map[syntax.Token]func(x, y starlark.Value) size{
	syntax.PLUS:    func(x, y starlark.Value) size { return sizeOf(x).plus(sizeOf(y).n) },
	syntax.STAR:    product,
	syntax.PERCENT: interpolation,
	syntax.LTLT:    func(x, _ starlark.Value) size { return sizeOf(x) },
	syntax.EQL:     equality,
	syntax.NEQ:     equality,
	syntax.LT:      comparison,
	syntax.LE:      comparison,
	syntax.GT:      comparison,
	syntax.GE:      comparison,
	syntax.IN:      membership,
	syntax.NOT_IN:  membership,
}

// product measures x * y, of numbers or of a sequence and a number.
func product(x, y starlark.Value) size {
	a, ok := x.(starlark.Int)
	b, both := y.(starlark.Int)
	if ok && both {
		return size{digitsOf(a) + digitsOf(b), digits}
	}
	return repetition(x, y)
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
	format, ok := x.(starlark.String)
	if !ok {
		return size{0, none}
	}
	places := 1
	if _, named := y.(starlark.Mapping); named {
		places = strings.Count(string(format), "%(")
	}
	return size{textLen(y), text}.times(places).plus(len(format))
}
