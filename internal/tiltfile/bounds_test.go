package tiltfile

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/file"
)

// TestBounds checks that input that is too large is an error that says so.
func TestBounds(t *testing.T) {
	for _, tc := range []struct {
		name, program, want string
		size                int64
	}{
		{"read_file", "read_file('large')", "large is larger than 64 MiB", file.Most + 1},
		{"read_file at the bound", "read_file('large')", "", file.Most},
		{"load", "load('large', 'x')", "large is larger than 8 MiB", file.MostSource + 1},
		{"k8s_yaml", "k8s_yaml('large')", "large is larger than 64 MiB", file.Most + 1},
		{"a number", "decode_json('9' * 50000000)", "a number of 50000000 digits", 0},
		{"a number in a list", "decode_json('[' + '9' * 10001 + ']')", "a number of 10001 digits", 0},
		{"a long number", "decode_json('9' * 10000)", "", 0},
		{"int", "int('9' * 50000000)", "int: a number of 50000000 characters is longer than 10000", 0},
		{"int of a base", "int('f' * 10001, 16)", "int: a number of 10001 characters is longer than 10000", 0},
		{"int at the bound", "print(int('9' * 10000))", "", 0},
		{"list", "list(range(1 << 40))", "list: 1099511627776 values are more than 5000000", 0},
		{"sorted", "sorted(range(5000001), reverse=True)", "sorted: 5000001 values are more than 5000000", 0},
		{"max", "max(range(1 << 40))", "max: 1099511627776 values are more than 5000000", 0},
		{"zip", "zip([1], range(1 << 40))", "zip: 1099511627776 values are more than 5000000", 0},
		{"list at the bound", "len(list(range(5000000)))", "", 0},
		{"fail", "x = []\nfor i in range(40): x = [x, x]\nfail(x)", "the result has more than 64 MiB", 0},
		{"exit", "x = []\nfor i in range(40): x = [x, x]\nexit(x)", "the result has more than 64 MiB", 0},
		{"watch_file", "for i in range(1 << 40):\n    watch_file('f' * 50000 + str(i))", "Tiltfile:2: the program has named 16", 0},
		{"a function that calls itself", "def f():\n    def g(): return g\n    return g\nx = f()", "", 0},
		{"a shared key", "x = ()\nfor i in range(40): x = (x, x)\n{x: 1}", "Tiltfile:3: the key has more than 64 MiB", 0},
		{"an element that grows", "x = [[0]]\nx[0] *= 1 << 27", "Tiltfile:2: the result has more than 5000000 values", 0},
		{"a long loop", "for i in range(1 << 40):\n    if i == 3: break", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := loadText(t, tc.program+"\n", func(o *Options) {
				large := filepath.Join(filepath.Dir(o.Path), "large")
				writeFile(t, large, nil)
				if err := os.Truncate(large, tc.size); err != nil {
					t.Fatal(err)
				}
			})
			if (res.Err == nil) != (tc.want == "") || res.Err != nil && !strings.Contains(res.Err.Error(), tc.want) {
				t.Errorf("got %v, want %q", res.Err, tc.want)
			}
		})
	}
}

// TestNesting checks that ever deeper values end the evaluation with an error that names the reason and the place,
// before code that prints, hashes or freezes them recurses too deep.
func TestNesting(t *testing.T) {
	const loop = "\nfor i in range(30000000):\n    "
	for name, program := range map[string]string{
		"list":                   "x = []" + loop + "x = [x]",
		"beside others":          "x = []" + loop + "x = [1, 'a', {}, x, i]",
		"tuple":                  "x = ()" + loop + "x = (x,)",
		"value":                  "x = {}" + loop + "x = {'a': 1, 'b': x}",
		"struct":                 "x = None" + loop + "x = struct(a=x, b=1)",
		"module":                 "x = None" + loop + "x = module('m', a=x)",
		"appended":               "x = []\ntop = x" + loop + "x.append([]); x = x[0]",
		"function":               "def wrap(x): return lambda: x\nx = 1" + loop + "x = wrap(x)",
		"default":                "def wrap(x):\n    def f(a=x): pass\n    return f\nx = 1" + loop + "x = wrap(x)",
		"method":                 "x = []" + loop + "x = [x].append",
		"variable of a function": "def f():\n    x = []\n    for i in range(30000000): x = [x]\n    return x\nprint(str(f()))",
		"global of a caller":     "x = []\ndef f(): pass" + loop + "x = [x]; f()",
		"twice each":             "x = []" + loop + "x = [x, x]",
		"in a comprehension":     "def f():\n    x = [[]]\n    [x.append([x.pop()]) for i in range(30000000)]\n    return x\nf()",
	} {
		t.Run(name, func(t *testing.T) {
			res := loadText(t, program+"\n", nil)
			var placed *fault.Error
			if !errors.As(res.Err, &placed) || placed.Line == 0 || !strings.HasPrefix(placed.Msg, "a value is nested more than 10000 levels deep") {
				t.Errorf("got %v", res.Err)
			}
		})
	}
	for name, program := range map[string]string{
		"holds itself": "x = []\nx.append(x)" + strings.Replace(loop, "30000000", "300000", 1) + "pass",
		"many":         "x = []" + strings.Replace(loop, "30000000", "300000", 1) + "x.append([x])",
		"deep":         "x = []\nfor i in range(5000): x = [x]\nprint(x, {str(x): 1})" + strings.Replace(loop, "30000000", "300000", 1) + "pass",
	} {
		t.Run(name, func(t *testing.T) {
			if res := loadText(t, program+"\n", nil); res.Err != nil {
				t.Errorf("got %v", res.Err)
			}
		})
	}
}

// TestEndlessIsCancelled checks that endless programs end with the context.
func TestEndlessIsCancelled(t *testing.T) {
	for name, program := range map[string]string{
		"loop": "print('on the way')\nwhile True: pass\n", "command": "local('echo on the way; sleep 1000')\n",
		"quiet command in the background": "local('echo on the way >&2; sleep 1000 & sleep 1000')\n",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			path := filepath.Join(t.TempDir(), "Tiltfile")
			writeFile(t, path, []byte(program))
			res := Load(ctx, Options{Path: path, Logger: logstore.Func(func(_ logstore.Level, text string) {
				if strings.Contains(text, "on the way") {
					cancel(why)
				}
			})})
			if !errors.Is(res.Err, why) {
				t.Errorf("got %v", res.Err)
			}
		})
	}
}

// odd makes values that contain themselves, and values that are very deep or long.
const odd = `
def deep(wrap, n=3000):
    x = None
    for i in range(n):
        x = wrap(x)
    return x
def cycle():
    x = []
    x.append(x)
    return x
def ring():
    x = {}
    x['a'] = [x]
    return x
odd = {
    'cycle': cycle, 'ring': ring, 'deep list': lambda: deep(lambda x: [x]), 'deep dict': lambda: deep(lambda x: {'a': x}),
    'deep tuple': lambda: deep(lambda x: (x,)), 'deep struct': lambda: deep(lambda x: struct(a=x)),
    'shared': lambda: deep(lambda x: [x, x], 40), 'deep JSON': lambda: '[' * 20000, 'deep YAML': lambda: blob('{a: ' * 20000), 'alias': lambda: 'a: &a [*a, *a]', 'large': lambda: 1 << 500,
}
`

var oddNames = []string{"cycle", "ring", "deep list", "deep dict", "deep tuple", "deep struct", "shared", "deep JSON", "deep YAML", "alias", "large"}

// oddCall evaluates the call of a builtin with an odd value as an argument. The builtin may accept or refuse it, but
// the evaluation must return, and an error must have a place.
func oddCall(t testing.TB, dir, name, param, key string) {
	_, err := runSample(t, dir, odd+sampleProgram(name, param+"=odd['"+key+"']()"))
	var placed *fault.Error
	if err != nil && (!errors.As(err, &placed) || placed.Line == 0) {
		t.Errorf("%s(%s=%s): %.300v has no place", name, param, key, err)
	}
}

// TestOddValues calls every builtin with two odd values for each of its arguments; FuzzOddValues tries more.
func TestOddValues(t *testing.T) {
	dir := sampleFolder(t)
	for _, name := range slices.Sorted(maps.Keys(sampleArgs)) {
		params, _ := parametersOf(name)
		for _, p := range params {
			oddCall(t, dir, name, p.name, "ring")
			oddCall(t, dir, name, p.name, "deep list")
			oddCall(t, dir, name, p.name, "shared")
		}
	}
}

// FuzzOddValues chooses a builtin, one of its arguments, and an odd value.
func FuzzOddValues(f *testing.F) {
	for i := range len(sampleArgs) {
		f.Add(uint16(i), uint8(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, which uint16, param, value uint8) {
		names := slices.Sorted(maps.Keys(sampleArgs))
		name := names[int(which)%len(names)]
		if params, _ := parametersOf(name); len(params) > 0 {
			oddCall(t, sampleFolder(t), name, params[int(param)%len(params)].name, oddNames[int(value)%len(oddNames)])
		}
	})
}
