package podlogs

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	for _, tt := range []struct {
		in, stamp, text string
		ok              bool
	}{
		{"2026-01-02T03:04:05.123456789Z hello", "2026-01-02T03:04:05.123456789Z", "hello", true},
		{"2026-01-02T03:04:05Z  two  blanks ", "2026-01-02T03:04:05Z", " two  blanks ", true},
		{"2026-01-02T05:04:05.5+02:00 zone", "2026-01-02T03:04:05.5Z", "zone", true},
		{"2026-01-02T03:04:05Z ", "2026-01-02T03:04:05Z", "", true},
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z", "", true},
		{"no time", "", "no time", false},
		{"", "", "", false},
		{"2026-13-02T03:04:05Z x", "", "2026-13-02T03:04:05Z x", false},
	} {
		ns, text, ok := parseLine([]byte(tt.in))
		stamp := ""
		if ok {
			stamp = time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
		}
		if stamp != tt.stamp || string(text) != tt.text || ok != tt.ok {
			t.Errorf("parseLine(%q) = %q, %q, %t", tt.in, stamp, text, ok)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add("2026-01-02T03:04:05.123456789Z hello")
	f.Add("2026-01-02T05:04:05.5+02:00 zone")
	f.Fuzz(func(t *testing.T, in string) {
		ns, text, ok := parseLine([]byte(in))
		if !strings.HasSuffix(in, string(text)) && ok {
			t.Errorf("text %q is not the end of %q", text, in)
		}
		if !ok && string(text) != in {
			t.Errorf("text %q, want the whole line", text)
		}
		if ok && (ns < 0 || time.Unix(0, ns).Year() > 2201) {
			t.Errorf("time %d of %q", ns, in)
		}
	})
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 3*readSize)
	huge := strings.Repeat("y", maxLine+10)
	short := strings.Repeat("s", quietSize/3)
	in := "a\n\n" + short + "\n" + short + "\n" + short + "\n" + long + "\nb\n" + huge + "\nrest"
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(in), "halves": iotest.HalfReader(strings.NewReader(in)),
	} {
		l := newLineReader(r)
		var got []string
		for {
			line, cont, err := l.next()
			if err != nil {
				got = append(got, "end:"+string(line))
				break
			}
			if cont {
				got[len(got)-1] += string(line)
				continue
			}
			got = append(got, string(line))
		}
		if diff := cmp.Diff([]string{"a", "", short, short, short, long, "b", huge, "end:rest"}, got); diff != "" {
			t.Errorf("%s: lines differ: %s", name, diff[:min(len(diff), 500)])
		}
	}
}
