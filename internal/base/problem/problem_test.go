package problem

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	full := &Problem{Summary: "cannot reach cluster", Cause: io.EOF, Mend: "start it:\nkind start", Link: "https://example.com", Detail: "one\ntwo\n"}
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"no problem at all", errors.New("oops"), "oops"},
		{"a summary", New("no Tiltfile", ""), "no Tiltfile"},
		{"with a mend", New("no Tiltfile", "write one"), "no Tiltfile\n  write one"},
		{"with a cause", Wrap(io.EOF, "cannot read", "try again"), "cannot read: EOF\n  try again"},
		{"with everything", full, "cannot reach cluster: EOF\n\none\ntwo\n\n  start it:\n  kind start\n  more: https://example.com"},
		{"output stands in the log", &Problem{Summary: "RUN make failed", Output: "cc: no such file", Detail: "Dockerfile:2"}, "RUN make failed\n\nDockerfile:2\n"},
		{"wrapped: the whole message, and the mend", fmt.Errorf("apply web: %w", New("forbidden", "ask")), "apply web: forbidden\n  ask"},
		{"the outermost of two", Wrap(New("inner", "inner mend"), "outer", "outer mend"), "outer: inner\n  outer mend"},
		{"several errors, each with its mend", errors.Join(New("none", "look"), io.EOF, errors.Join(New("forbidden", "ask"))), "none\n  look\nEOF\nforbidden\n  ask"},
		{"several errors, one mend", errors.Join(New("no x", "look"), New("no y", "look")), "no x\nno y\n  look"},
		{"an error of several causes", fmt.Errorf("%w (%w)", New("none", "look"), io.EOF), "none (EOF)\n  look"},
		{"one of several errors", errors.Join(io.EOF, New("forbidden", "ask")), "EOF\nforbidden\n  ask"},
	} {
		if diff := cmp.Diff(tc.want, Text(tc.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestOf(t *testing.T) {
	p := Wrap(io.EOF, "cannot read", "")
	if got, ok := Of(fmt.Errorf("load: %w", p)); !ok || got != p || !errors.Is(got, io.EOF) {
		t.Errorf("%v, %v", got, ok)
	}
	if got, ok := Of(io.EOF); ok || got != nil {
		t.Errorf("%v, %v", got, ok)
	}
}
