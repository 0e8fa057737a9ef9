package dialect

import (
	"fmt"
	"strings"
	"testing"
)

// TestFewNested compiles programs of all shapes in three sizes. What grows deep is refused, at its place, and before it is compiled;
// what only grows long is not.
func TestFewNested(t *testing.T) {
	around := func(open, inner, shut string) func(int) string {
		return func(n int) string {
			return "x = 1\ny = " + strings.Repeat(open, n) + inner + strings.Repeat(shut, n) + "\n"
		}
	}
	row := func(first, more, last string) func(int) string {
		return func(n int) string { return "x = 1\n" + first + strings.Repeat(more, n) + last + "\n" }
	}
	indented := func(head string) func(int) string {
		return func(n int) string {
			n = min(n, 3000)
			var b strings.Builder
			b.WriteString("x = 1\n")
			for i := range n {
				b.WriteString(strings.Repeat(" ", i) + head + "\n")
			}
			return b.String() + strings.Repeat(" ", n) + "pass\n"
		}
	}
	const many, nesting = "there are more than 2000 branches, operators or calls in a row", "excessive nesting"
	for _, tc := range []struct {
		name  string
		shape func(n int) string
		want  string // the error of 10,000 and more; empty if any number is fine
	}{
		{"elif", row("if x == 0:\n  pass\n", "elif x == 1:\n  pass\n", ""), many},
		{"elif and else", row("if x == 0:\n  pass\n", "elif x == 1:\n  pass\n", "else:\n  pass"), many},
		{"sum", row("y = x", " + x", ""), many},
		{"comparison of sums", row("y = 1 == x", " - x", ""), many},
		{"and", row("y = x", " and x", ""), many},
		{"or", row("y = x", " or x", ""), many},
		{"calls of calls", row("y = str", "()", ""), many},
		{"attributes of attributes", row("y = str", ".x", ""), many},
		{"elements of elements", row("y = str", "[0]", ""), many},
		{"slices of slices", row("y = 'a'", "[1:]", ""), many},
		{"text plus text", row("y = ''", " + 'abc'", ""), many},
		{"an assignment of a sum", row("x += x", " * x", ""), many},
		{"lists", around("[", "", "]"), nesting},
		{"dictionaries", around("{1: ", "1", "}"), nesting},
		{"parentheses", around("(", "1", ")"), nesting},
		{"comprehensions", around("[", "1", " for i in [1]]"), nesting},
		{"arguments", around("str(", "1", ")"), nesting},
		{"lambda", around("lambda: ", "1", ""), nesting},
		{"not", around("not ", "1", ""), nesting},
		{"minus", around("- ", "1", ""), nesting},
		{"conditions", around("1 if x else ", "1", ""), nesting},
		{"if", indented("if x:"), nesting},
		{"for", indented("for i in [1]:"), nesting},
		{"def", indented("def f():"), nesting},
		{"clauses", row("y = [1", " for i in [1]", "]"), ""},
		{"elements", row("y = [1", ", 1", "]"), ""},
		{"parameters", func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "x%d, ", i)
			}
			return "def f(" + b.String() + "):\n  pass\n"
		}, ""},
		{"targets", row("x", ", x", " = [1]"), ""},
		{"statements", row("", "x = 1\n", ""), ""},
		{"if statements", row("", "if x: pass\n", ""), ""},
		{"for statements", row("", "for i in [1]: pass\n", ""), ""},
		{"functions", row("", "f = lambda: x\n", ""), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, n := range []int{50, 10_000, 100_000} {
				if tc.want == "" && n > 10_000 {
					continue
				}
				_, err := Program("Tiltfile", tc.shape(n), func(string) bool { return true })
				want := tc.want
				if n == 50 {
					want = ""
				}
				if want == "" && err != nil {
					t.Errorf("%d: %v", n, err)
				}
				if want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "Tiltfile:")) {
					t.Errorf("%d: got %v, want %q", n, err, want)
				}
			}
		})
	}
}
