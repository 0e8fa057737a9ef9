package lsp

import (
	"strings"
	"testing"
)

// TestFormatEverything formats every valid Tiltfile of the tests: the program stays the same, which format itself
// checks, and formatting again changes nothing.
func TestFormatEverything(t *testing.T) {
	formatted := 0
	for _, text := range samples(t) {
		if _, err := dialect.Parse("Tiltfile", text, 0); err != nil {
			continue
		}
		once, err := format(newDocument("", "Tiltfile", text))
		if err != nil {
			t.Errorf("%v:\n%s", err, text)
			continue
		}
		formatted++
		if twice, err := format(newDocument("", "Tiltfile", once)); err != nil || twice != once {
			t.Errorf("%v: formatted twice:\n%s\nonce:\n%s", err, twice, once)
		}
	}
	if formatted < 500 {
		t.Errorf("only %d Tiltfiles were formatted", formatted)
	}
}

// TestFormatKeepsLineEnds checks that a file with Windows line ends keeps them.
func TestFormatKeepsLineEnds(t *testing.T) {
	got, err := format(newDocument("", "Tiltfile", "x=1\r\nif x :\r\n  print( '''a\r\nb''' )\r\n"))
	if want := "x = 1\r\nif x:\r\n    print(\"\"\"a\r\nb\"\"\")\r\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestDifference checks the edit that turns one text into another: the smallest one of whole lines.
func TestDifference(t *testing.T) {
	for _, tc := range []struct{ a, b, replaced, by string }{
		{"", "", "", ""},
		{"a\nb\nc\n", "a\nb\nc\n", "", ""},
		{"a\nb\nc\n", "a\nx\nc\n", "b\n", "x\n"},
		{"a\nc\n", "a\nb\nc\n", "", "b\n"},
		{"a\nb\nc\n", "a\nc\n", "b\n", ""},
		{"a\na\n", "a\n", "a\n", ""},
		{"a\n", "a\na\n", "", "a\n"},
		{"a", "a\n", "a", "a\n"},
		{"a\n\n\n", "a\n", "\n\n", ""},
		{"xb\n", "b\n", "xb\n", "b\n"},
		{"b\n", "xb\n", "b\n", "xb\n"},
		{"a\nb", "a\nxb", "b", "xb"},
	} {
		from, to, by := difference(tc.a, tc.b)
		if got := tc.a[:from] + by + tc.a[to:]; got != tc.b || tc.a[from:to] != tc.replaced || by != tc.by {
			t.Errorf("%q to %q: %q is replaced by %q", tc.a, tc.b, tc.a[from:to], by)
		}
	}
}

// TestSameProgram checks which differences sameProgram allows.
func TestSameProgram(t *testing.T) {
	const text = "x = f(a, 'b', [1, 2], k=10) # c\n"
	for other, want := range map[string]bool{
		"x = f( a , \"b\", [\n1, 2], k=0xa)": true,
		"x = (f(a, 'b', [1, 2], k=10))":      true,
		"x = f(a, 'b', [1, 2], k=11)":        false,
		"x = f(a, 'b', [2, 1], k=10)":        false,
		"x = f(a, 'c', [1, 2], k=10)":        false,
		"x = f(a, b'b', [1, 2], k=10)":       false,
		"x = f(a, 'b', [1, 2], j=10)":        false,
		"x = f(a, 'b', (1, 2), k=10)":        false,
		"x += f(a, 'b', [1, 2], k=10)":       false,
		"x = f(a, 'b', [1, 2])":              false,
		"x = f(a, 'b', [1, 2], k=10)\nx":     false,
		"x = f(a, 'b', [1, 2], k=10.0)":      false,
	} {
		if got := same(t, text, other); got != want {
			t.Errorf("%s: %v", other, got)
		}
	}
	big := "x = " + strings.Repeat("9", 40)
	if !same(t, big, big+" #") || same(t, big, big+"9") {
		t.Error("large numbers")
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := dialect.Parse("a", a, 0)
	if err != nil {
		t.Fatal(err)
	}
	two, err := dialect.Parse("b", b, 0)
	if err != nil {
		t.Fatal(err)
	}
	return sameProgram(one.Stmts, two.Stmts)
}

func FuzzFormat(f *testing.F) {
	for _, text := range samples(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := format(newDocument("", "Tiltfile", text))
		if err != nil {
			return
		}
		if _, err := dialect.Parse("Tiltfile", once, 0); err != nil {
			t.Fatalf("%v:\n%q\nof\n%q", err, once, text)
		}
	})
}
