package k8s

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// filter is the reference implementation for sinceReader.
func filter(text string, since time.Time) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		stamp, _, _ := strings.Cut(line, " ")
		at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(stamp))
		if err != nil || !at.Before(since) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func since(text string, since time.Time) (string, error) {
	r := &sinceReader{r: bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(text)), 64), since: since}
	b, err := io.ReadAll(r)
	return string(b), err
}

func TestSinceReader(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 500_000_000, time.UTC)
	line := func(d time.Duration, text string) string {
		return at.Add(d).Format(time.RFC3339Nano) + " " + text + "\n"
	}
	long := strings.Repeat("x", 200)
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"exact", line(-1, "a") + line(0, "b") + line(1, "c")},
		{"long lines", line(-2, long) + line(-1, "a") + line(0, long) + line(1, "b")},
		{"no line break at the end", line(-1, "a") + strings.TrimSuffix(line(0, "b"), "\n")},
		{"slightly out of order", line(0, "a") + line(-1, "b") + line(1, "c")},
		{"not a log", "Unable to read the log\n" + line(-1, "a")},
		{"empty line", "\n" + line(-1, "a")},
		{"much later", line(-1, "a") + line(time.Minute, "b") + line(time.Hour, long)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := since(tt.text, at)
			if want := filter(tt.text, at); got != want || err != nil {
				t.Errorf("got %q, %v\nwant %q", got, err, want)
			}
		})
	}
}

func FuzzSinceReader(f *testing.F) {
	at := time.Unix(1_000_000_000, 0).UTC()
	f.Add([]byte{0, 5, 1, 200, 2, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		var b bytes.Buffer
		for i := 0; i+1 < len(in); i += 2 {
			// All times are close together, within the promised order.
			fmt.Fprintf(&b, "%s %s\n", at.Add(time.Duration(int8(in[i]))*time.Millisecond).Format(time.RFC3339Nano), strings.Repeat("y", int(in[i+1])))
		}
		got, err := since(b.String(), at)
		if want := filter(b.String(), at); got != want || err != nil {
			t.Errorf("got %q, %v\nwant %q", got, err, want)
		}
	})
}
