package dialect

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// run executes a program as an evaluation does.
func run(thread *starlark.Thread, program string) error {
	p, err := Program("Tiltfile", program, Universe().Has)
	if err != nil {
		return err
	}
	_, err = Run(thread, p, Universe())
	return err
}

// TestLimits runs programs without an end, and one that makes much garbage.
func TestLimits(t *testing.T) {
	limits := Limits{Steps: 1_000_000, Memory: 32 << 20}
	const steps, memory = "has taken 1000000 steps", "uses more than 32 MiB of memory"
	for _, tc := range []struct{ name, program, want string }{
		{"an endless loop", "while True: pass", steps},
		{"a recursion", "def f(n):\n    return f(n - 1) + f(n - 2) if n > 1 else n\nf(60)", steps},
		{"a comprehension", "[i for i in range(1 << 40)]", steps},
		{"a comprehension of lists", "[[i] * 10000 for i in range(1 << 40)]", memory},
		{"texts repeated in a comprehension", "['a' * 1000000 for i in range(1 << 40)]", memory},
		{"a dictionary that grows", "x = {}\nfor i in range(1 << 40): x[i] = str(i) * 4000", memory},
		{"garbage", "for i in range(100): ('%s' % i) * (1 << 20)", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			thread := &starlark.Thread{Name: "test"}
			limits.Bound(thread)
			defer limits.WatchMemory(thread)()
			err := run(thread, tc.program)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
