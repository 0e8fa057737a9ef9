package screen

import (
	"testing"

	"github.com/hone-dev/hone/internal/base/terminal"
)

// TestRemoteTerminalsHaveNoPauses: a vt100 that is attached is drawn on at once.
func TestRemoteTerminalsHaveNoPauses(t *testing.T) {
	if info, err := describe(terminal.Description{Term: "vt100"}); err != nil || info.PadChar != "" {
		t.Errorf("%v: padded with %q", err, info.PadChar)
	}
}

func TestCharacters(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                   {"", ""},
		"abc":                {"abc", ""},
		"a\xffb\xfe":         {"ab", ""},
		"ü€😀":                {"ü€😀", ""},
		"a\xe2\x82":          {"a", "\xe2\x82"},
		"\xe2\x82a":          {"a", ""},
		"\xf0\x9f\x98":       {"", "\xf0\x9f\x98"},
		"\xed\xa0\x80x":      {"x", ""},
		"\x1b[\xc0\x80A\xc3": {"\x1b[A", "\xc3"},
	} {
		b := []byte(in)
		kept, partial := characters(b)
		if got := [2]string{string(b[:kept]), string(partial)}; got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
