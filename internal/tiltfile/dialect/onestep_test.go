package dialect

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// TestOneStep runs programs whose last step would fill the memory, or take hours, if nothing refused it; and shows that
// others have the results of Starlark.
func TestOneStep(t *testing.T) {
	const (
		text   = "the result has more than 64 MiB"
		values = "the result has more than 5000000 values"
		shared = "x = [0]\nfor i in range(40): x = [x, x]\n"
		long   = "x = 'a' * 60000000\n"
	)
	for program, want := range map[string]string{
		"'a' * (1 << 27)":                                      text,
		"(1 << 27) * 'ab'":                                     text,
		"b'a' * (1 << 27)":                                     text,
		"x = 'a'\nfor i in range(40): x = x + x":               text,
		"x = [0]\nfor i in range(40): x = x + x":               values,
		"x = [0]\nfor i in range(40): x += x":                  values,
		"x = [[0]]\nfor i in range(40): x[0] = x[0] + x[0]":    values,
		"[0] * (1 << 27)":                                      values,
		"(0,) * (1 << 27)":                                     values,
		"'a' * (1 << 80)":                                      text,
		"x = 'a'\nx *= 1 << 27":                                text,
		"x = [0]\nx *= 1 << 27":                                values,
		"def f(x):\n    return [x * (1 << 27)]\nf('a')":        text,
		"(lambda x=[0] * (1 << 27): x)()":                      values,
		"[y for y in [[0] * (1 << 27)] if y]":                  values,
		"{1: [0] * (1 << 27)}":                                 values,
		"str(x=1) if False else -len([0] * (1 << 27))":         values,
		long + "x + x":                                         text,
		long + "'%s%s' % (x, x)":                               text,
		long + "'%(a)s%(a)s' % {'a': x}":                       text,
		long + "'{0}{0}'.format(x)":                            text,
		long + "'{a}{a}'.format(a=x)":                          text,
		long + "x.replace('a', 'bc')":                          text,
		long + "x.replace('', 'b')":                            text,
		long + "', '.join([x, x])":                             text,
		long + "f = ', '.join\nf([x] * 100)":                   text,
		"','.join([''] * 5000000).join(['', '', '', ''] * 10)": text,
		long + "x.split('a')":                                  values,
		"(' a' * 6000000).split()":                             values,
		"(' a' * 6000000).rsplit(' ')":                         values,
		"('\\n' * 6000000).splitlines()":                       values,
		shared + "str(x)":                                      text,
		shared + "repr(x)":                                     text,
		shared + "print(x)":                                    text,
		shared + "'%s' % x":                                    text,
		shared + "'%s' % (x,)":                                 text,
		shared + "'{}'.format(x)":                              text,
		"x = ()\nfor i in range(40): x = (x, x)\nstr(x)":       text,
		"x = {}\nfor i in range(40): x = {0: x, 1: x}\nstr(x)": text,
		"'a' * 3 == 'aaa' or fail('*')":                        "",
		"3 * [0] == [0, 0, 0] and -1 * 'a' == '' and 2 * 3 == 6 and 2.0 * 2 == 4.0 or fail('*')":   "",
		"'%s-%d' % ('a', 1) == 'a-1' and 7 % 4 == 3 and '%(a)s' % {'a': 1} == '1' or fail('%')":    "",
		"'a' + 'b' == 'ab' and [1] + [2] == [1, 2] and 1 + 1 == 2 and 1 + 0.5 == 1.5 or fail('+')": "",
		"x = [1]\ny = x\nx += [2]\ny == [1, 2] or fail('+= makes another list')":                   "",
		"x = {'a': 1}\nx['a'] += 1\nx == {'a': 2} or fail('+=')":                                   "",
		"','.join(['a', 'b']) == 'a,b' and 'a{}{b}'.format(1, b=2) == 'a12' or fail('methods')":    "",
		"'aa'.replace('a', 'b', 1) == 'ba' and 'a b'.split() == ['a', 'b'] or fail('methods')":     "",
		"x = []\nx.append(x)\nstr(x) == '[[...]]' or fail('holds itself')":                         "",
		"str(', '.join) == '<built-in method join of string value>' or fail(', '.join)":            "",
		"1 + 'a'":        "unknown binary op: int + string",
		"[1] * [2]":      "unknown binary op: list * list",
		"x = 1\nx += ''": "unknown binary op: int + string",
		"x = 1\ny = 1" + strings.Repeat("0", 20000): "Tiltfile:2:5: a number has more than 10000 digits",
		"(1).join":    "int has no .join field or method",
		"','.join(1)": "join: for parameter 1: got int, want iterable",
	} {
		t.Run(program, func(t *testing.T) {
			err := run(&starlark.Thread{Name: "test"}, program)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
