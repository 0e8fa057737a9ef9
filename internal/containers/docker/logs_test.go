package docker

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestLogEnds reads logs whose streams end at different places: only an end between two frames is the end of the log.
func TestLogEnds(t *testing.T) {
	frame := func(stream byte, text string) string {
		n := len(text)
		return string([]byte{stream, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + text
	}
	whole := frame(1, "2026-11-23T12:00:00Z one\n")
	for _, tc := range []struct {
		name, stream string
		want         string
		err          error
	}{
		{"nothing", "", "", nil},
		{"between frames", whole, "2026-11-23T12:00:00Z one\n", nil},
		{"after a line without an end", whole + frame(2, "2026-11-23T12:00:01Z two"), "2026-11-23T12:00:00Z one\n2026-11-23T12:00:01Z two", nil},
		{"in a header", whole + whole[:3], "2026-11-23T12:00:00Z one\n", io.ErrUnexpectedEOF},
		{"after a header", whole + whole[:frameHeader], "2026-11-23T12:00:00Z one\n", io.ErrUnexpectedEOF},
		{"in a frame", whole + whole[:frameHeader+4], "2026-11-23T12:00:00Z one\n", io.ErrUnexpectedEOF},
	} {
		l := &logLines{body: io.NopCloser(strings.NewReader("")), r: bufio.NewReader(strings.NewReader(tc.stream))}
		var got bytes.Buffer
		_, err := io.Copy(&got, l)
		if got.String() != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v, want %q, %v", tc.name, &got, err, tc.want, tc.err)
		}
	}
}
