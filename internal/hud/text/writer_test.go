package text

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func written(colored bool, parts ...string) string {
	var b bytes.Buffer
	w := NewWriter(&b, colored)
	for _, p := range parts {
		_, _ = w.Write([]byte(p)) // a buffer takes everything
	}
	return b.String()
}

func TestWriter(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		colored        bool
	}{
		{name: "plain", in: "a\tb\nc", want: "a\tb\nc"},
		{name: "clipboard", in: "a\x1b]52;c;cm0gLXJm\x07b", want: "ab"},
		{name: "title, ended by ST", in: "a\x1b]2;title\x1b\\b", want: "ab"},
		{name: "link", in: "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", want: "text"},
		{name: "a string without an end", in: "a\x1b]2;title\nb", want: "a\nb"},
		{name: "device control", in: "a\x1bP1$r0m\x1b\\b", want: "ab"},
		{name: "application command", in: "a\x1b_x\x1b\\b\x1b^y\x1b\\c\x1bXz\x1b\\d", want: "abcd"},
		{name: "reset", in: "a\x1bcb", want: "ab"},
		{name: "screen, cursor, modes", in: "a\x1b[2J\x1b[1;1H\x1b[?1049h\x1b[6n\x1b[8;1;1tb", want: "ab"},
		{name: "character set", in: "a\x1b(0b", want: "ab"},
		{name: "colour where there are none", in: "a\x1b[31mb\x1b[0m", want: "ab"},
		{name: "colour", in: "a\x1b[31mb\nc", want: "a\x1b[0;31mb\x1b[0m\nc", colored: true},
		{name: "hidden text", in: "\x1b[8mhidden", want: "hidden", colored: true},
		{name: "no colour: private parameters", in: "\x1b[>4;2mx\x1b[?5mx", want: "xx", colored: true},
		{name: "a long colour", in: "\x1b[" + strings.Repeat("1;", 500) + "mx", want: "x", colored: true},
		{name: "carriage return", in: "safe\rbad\r\nx", want: "safebad\r\nx"},
		{name: "bell and backspace", in: "a\a\b", want: `a\u0007\u0008`},
		{name: "C1 controls", in: "a\u009b31mb\u0085", want: `a\u009b31mb\u0085`},
		{name: "direction of the text", in: "a\u202eb\u2066", want: `a\u202eb\u2066`},
		{name: "invalid UTF-8", in: "a\xff\x9bb\xe2\x82\x1b[2Jc", want: "a\uFFFD\uFFFDb\uFFFDc"},
		{name: "wide characters", in: "日本 👩‍👩‍👧‍👦 e\u0301", want: "日本 👩‍👩‍👧‍👦 e\u0301"},
		{name: "a sequence in a sequence", in: "\x1b[3\x1b]2;x\x07\x1b\x1b[2Jy", want: "y"},
		{name: "a cancelled sequence", in: "\x1b[3\x18x\x1b]2;t\x1ay", want: "xy"},
		{name: "text in a sequence", in: "\x1b[3日\x1b日", want: "日日"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := written(tt.colored, tt.in)
			if want := strings.TrimSuffix(tt.want, noStyle); strings.TrimSuffix(got, noStyle) != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if bytewise := written(false, strings.Split(tt.in, "")...); bytewise != written(false, tt.in) {
				t.Errorf("cut anywhere, it is %q", bytewise)
			}
		})
	}
}

// obeyed matches text that a terminal would obey; colours are removed before.
var (
	colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	obeyed = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]|\r[^\n]|\r$")
)

func FuzzWriter(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb\x1b[0m", "\x1b]52;c;eA==\x07x", "日本\t語\u009b", "\x1b[", "\xff\xfe", "a\rb\r\n", "\x1bP$q\x1b\\", "\u202e"} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		cut = min(max(cut, 0), len(s))
		whole := written(false, s)
		if obeyed.MatchString(whole) || !utf8.ValidString(whole) {
			t.Fatalf("%q became %q", s, whole)
		}
		if parts := written(false, s[:cut], s[cut:]); parts != whole {
			t.Fatalf("%q became %q, and cut at %d %q", s, whole, cut, parts)
		}
		colored := written(true, s[:cut], s[cut:])
		if plain := colors.ReplaceAllString(colored, ""); plain != whole {
			t.Fatalf("%q became %q, and with colours %q", s, whole, colored)
		}
		if i := strings.LastIndex(colored, "\x1b["); i >= 0 && !strings.HasPrefix(colored[i:], noStyle) {
			t.Fatalf("%q leaves a style: %q", s, colored)
		}
		doc, err := json.Marshal(s)
		var was, is string
		if err != nil || json.Unmarshal(doc, &was) != nil || json.Unmarshal([]byte(written(false, string(doc))), &is) != nil || was != is {
			t.Fatalf("%s has become other JSON", doc)
		}
	})
}
