package screen

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListener(t *testing.T) {
	dark, light := heard{background: darkBackground}, heard{background: lightBackground}
	for _, tt := range []struct {
		name, input string
		want        []heard
	}{
		{"keys", "jk\x1b[A\x1b[<0;1;2M\x1bOP", nil},
		{"dark", "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", []heard{dark}},
		{"light, ended by a bell", "\x1b]11;rgb:fdfd/f6f6/e3e3\a", []heard{light}},
		{"two digits", "\x1b]11;rgb:ff/ff/ff\x1b\\", []heard{light}},
		{"with alpha", "\x1b]11;rgba:0000/0000/0000/ffff\x1b\\", []heard{dark}},
		{"between keys", "a\x1b]11;rgb:0/0/0\x1b\\b\x1b[B", []heard{dark}},
		{"after an escape key", "\x1b\x1b]11;rgb:0/0/0\x1b\\", []heard{dark}},
		{"two answers", "\x1b]11;rgb:0/0/0\x1b\\\x1b]11;rgb:f/f/f\x1b\\", []heard{dark, light}},
		{"what was written is shown", "x\x1b[0ny\x1b[0n", []heard{{shown: true}, {shown: true}}},
		{"a report that is not fine", "\x1b[3n", nil},
		{"the scheme changes to dark", "\x1b[?997;1n", []heard{{background: darkBackground, changed: true}}},
		{"the scheme changes to light", "\x1b[?997;2n", []heard{{background: lightBackground, changed: true}}},
		{"no scheme", "\x1b[?997;3n", nil},
		{"another report", "\x1b[?1;2c\x1b[?2026;2$y", nil},
		{"another colour", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\", nil},
		{"no colour", "\x1b]11;white\x1b\\", nil},
		{"too many digits", "\x1b]11;rgb:fffff/0/0\x1b\\", nil},
		{"too long", "\x1b]11;rgb:" + string(make([]byte, 100)) + "\x1b\\\x1b]11;rgb:0/0/0\x1b\\", []heard{dark}},
		{"never ended", "\x1b]11;rgb:0/0/0", nil},
		{"a paste with an escape sequence", "\x1b[200~text\x1b[201~\x1b]11;rgb:0/0/0\x1b\\", []heard{dark}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.input)+1; size++ { // in pieces of every size
				var l listener
				var got []heard
				for rest := tt.input; rest != ""; {
					n := min(size, len(rest))
					got = append(got, l.hear([]byte(rest[:n]))...)
					rest = rest[n:]
				}
				if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(heard{})); diff != "" {
					t.Fatalf("in pieces of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

func TestBackgroundIn(t *testing.T) {
	for in, want := range map[string]background{
		"": unknownBackground, "15": unknownBackground, "15;": unknownBackground, "15;x": unknownBackground, "15;99": unknownBackground,
		"15;0": darkBackground, "12;8": darkBackground, "7;4": darkBackground, "15;default;0": darkBackground, "default;default": unknownBackground,
		"0;15": lightBackground, "0;7": lightBackground, "0;default;15": lightBackground,
	} {
		if got := backgroundIn(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func FuzzListener(f *testing.F) {
	f.Add([]byte("a\x1b]11;rgb:0/0/0\x1b\\b"), 3)
	f.Add([]byte("\x1b[?997;1n"), 1)
	f.Fuzz(func(t *testing.T, input []byte, at int) {
		at = max(0, min(at, len(input)))
		var whole, parted listener
		want := whole.hear(input)
		got := append(parted.hear(input[:at]), parted.hear(input[at:])...)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(heard{})); diff != "" {
			t.Errorf("in two pieces (-want +got):\n%s", diff)
		}
		if len(whole.part) > longestAnswer+1 {
			t.Errorf("%d bytes are kept", len(whole.part))
		}
	})
}
