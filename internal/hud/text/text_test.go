package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cut   func(string, int) string
		in    string
		width int
		want  string
	}{
		{"fits", Cut, "api", 3, "api"},
		{"end", Cut, "handler.go", 6, "handl…"},
		{"no room", Cut, "api", 0, ""},
		{"one column", Cut, "api", 1, "…"},
		{"wide characters stay whole", Cut, "日本語", 4, "日…"},
		{"middle", CutMiddle, "payments-worker-eu", 11, "payme…er-eu"},
		{"middle fits", CutMiddle, "payments", 8, "payments"},
		{"middle of wide characters", CutMiddle, "日本語文字", 6, "日…字"},
		{"emoji stay whole", Cut, "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.cut(tt.in, tt.width)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if Width(got) > tt.width {
				t.Errorf("%q is %d columns wide, more than %d", got, Width(got), tt.width)
			}
		})
	}
}

func TestParse(t *testing.T) {
	red := Style{Fg: Color{Kind: ColorPalette, Index: 1}}
	for _, tt := range []struct {
		name, in, want string
	}{
		{"plain", "hello", "hello"},
		{"tab", "a\tb", "a       b"},
		{"tab after wide characters", "日\tb", "日      b"},
		{"carriage return", "10%\r20%\r100%", "100%"},
		{"carriage return at the end", "done\r", "done"},
		{"cursor movement", "a\x1b[2Kb\x1b[1;1Hc", "abc"},
		{"window title", "a\x1b]0;title\x07b", "ab"},
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"bell and backspace", "a\a\bb", "ab"},
		{"C1 control", "a\u009bb", "ab"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"family", "👩‍👩‍👧‍👦!", "👩‍👩‍👧‍👦!"},
		{"combining mark", "e\u0301x", "e\u0301x"},
		{"unfinished sequence", "a\x1b[3", "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Plain(Parse(tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("styles", func(t *testing.T) {
		got := Parse("\x1b[31ma\x1b[1;38;5;208mb\x1b[0mc\x1b[48;2;1;2;3md")
		want := []Cell{
			{"a", 1, red},
			{"b", 1, Style{Bold: true, Fg: Color{Kind: ColorPalette, Index: 208}}},
			{"c", 1, Style{}},
			{"d", 1, Style{Bg: Color{Kind: ColorRGB, R: 1, G: 2, B: 3}}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"empty", "", 5, []string{""}},
		{"exact", "12345", 5, []string{"12345"}},
		{"in a word", "1234567", 5, []string{"12345", "67"}},
		{"after a space", "abcdef gh ijkl", 11, []string{"abcdef gh ", "ijkl"}},
		{"wide character at the edge", "abcd日本", 5, []string{"abcd", "日本"}},
		{"one column", "日a", 1, []string{"日", "a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, row := range Wrap(Parse(tt.in), tt.width) {
				got = append(got, Plain(row))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestANSIRoundTrip(t *testing.T) {
	in := Parse("plain \x1b[1;31mred\x1b[0m \x1b[38;5;200mpink \x1b[7mreverse")
	if d := cmp.Diff(in, Parse(ANSI(in))); d != "" {
		t.Error(d)
	}
	if got := ANSI(in); !strings.HasSuffix(got, "\x1b[0m") {
		t.Errorf("%q does not reset the style", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb\x1b[0m", "\x1b]8;;u\x07x", "日本\t語", "\x1b[", "\xff\xfe", "a\rb", "\x1bP$q\x1b\\"} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = max(1, width%200)
		cells := Parse(s)
		total := 0
		for _, c := range cells {
			total += c.Width
			if !utf8.ValidString(c.Text) || strings.ContainsAny(c.Text, "\x1b\n\r\t\a\u009b") || c.Width < 1 {
				t.Fatalf("cell %+v of %q", c, s)
			}
		}
		got := 0
		for _, row := range Wrap(cells, width) {
			if n := columns(row); n > width && len(row) > 1 {
				t.Fatalf("row of %d columns, more than %d: %q", n, width, s)
			}
			got += columns(row)
		}
		if got != total {
			t.Fatalf("wrapping %q lost %d columns", s, total-got)
		}
		if !utf8.ValidString(ANSI(cells)) {
			t.Fatalf("ANSI of %q is not valid UTF-8", s)
		}
	})
}
