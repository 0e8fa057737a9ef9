package logline

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLine gives any text to every function: none panics, and the results keep the promises of their types.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"", "\n", `level=warn msg="x`, `{"level":"error","log":{"level":1}}`, "E1123 12:00:00.0 1 x.go:1] y", "panic: x\n\ngoroutine 1 [running]:\nmain.f(0x1)\n\t/a.go:3 +0x1",
		"Traceback (most recent call last):\n  File \"x.py\", line 3\nValueError", "\x1b[31mERROR\x1b[0m x", "[[[[", "(((((", `"'` + "`", "file:///x.go:1:2", "C:\\x.go:3",
		"GET / 200 3ms", "2026-11-20 12:41:03,123 - a - ERROR - b", "{\n\"level\": 50\n}", "thread 'main' panicked at x.rs:1:2:\nmsg", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "a.b(X.java:3)", "=",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		var r Reader
		for i, l := range lines {
			level, continues := r.Line(l)
			if level > Error || i == 0 && continues {
				t.Errorf("level %d, continues %t at line %d", level, continues, i)
			}
			clean := Plain(l)
			for _, p := range Places(l) {
				if p.Start < 0 || p.End > len(clean) || p.Start >= p.End || p.Line < 1 || p.Column < 0 || p.File == "" {
					t.Errorf("place %+v in %q", p, clean)
				}
			}
			if Pattern(l) != Pattern(strings.Clone(l)) || !Repeats(l, l) {
				t.Errorf("%q is not like itself", l)
			}
			fields, ok := Fields(l)
			if ok != (len(fields) > 0) {
				t.Errorf("%d fields, ok %t", len(fields), ok)
			}
			for _, field := range fields {
				if utf8.ValidString(l) && !utf8.ValidString(field.Key) {
					t.Errorf("key %q", field.Key)
				}
			}
		}
		chosen := Essential(lines, 3)
		for i, at := range chosen {
			if at < 0 || at >= len(lines) || i > 0 && at <= chosen[i-1] || len(chosen) > 3 {
				t.Errorf("essential lines %v of %d", chosen, len(lines))
			}
		}
	})
}

// TestLongLinesTakeBoundedTime gives lines of a megabyte that are awkward to read; a function that is not linear would not
// come to an end.
func TestLongLinesTakeBoundedTime(t *testing.T) {
	for _, unit := range []string{"x", "[", "(", `"`, "'", "{", `{"a":`, "a=", "a=b ", "1:", "a.go:", "a.go(", ":1", "\x1b[", "\x1b]", " ", "\t", "-", "12:00:00 ", "File \"", "€"} {
		line := strings.Repeat(unit, 1<<20/len(unit))
		var r Reader
		r.Line(line)
		r.Line(line)
		Pattern(line)
		Repeats(line, line)
		Fields(line)
		Places(line)
		Essential([]string{line, line}, 1)
	}
}
