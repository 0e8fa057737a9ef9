package liveupdate

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestEnding passes on a command's output in pieces of every size.
func TestEnding(t *testing.T) {
	lost := errors.New("lost")
	for _, tt := range []struct {
		name, output, passed string
		err, want            error
	}{
		{"nothing but the end", endMark + "0\n", "", nil, nil},
		{"output without a line feed", "done" + endMark + "0\n", "done", nil, nil},
		{"a failure", "oops\n" + endMark + "137\n", "oops\n", nil, endCode(137)},
		{"a child that keeps running", "a\n" + endMark + "0\nb\n", "a\nb\n", nil, nil},
		{"no end", "a\n", "a\n", nil, errUnread},
		{"half an end", "a\n" + endMark + "0", "a\n" + endMark + "0", nil, errUnread},
		{"the beginning of one", "a\n" + endMark[:4], "a\n" + endMark[:4], lost, lost},
		{"a lost connection", "a\n", "a\n", lost, lost},
		{"a connection that is lost afterwards", "a\n" + endMark + "1\n", "a\n", lost, endCode(1)},
		{"bytes that begin like it", "\x1e\x1ehone \x1ehone ended x\n" + endMark + "1234\n" + endMark + "256\n" + endMark + "7\n", "\x1e\x1ehone \x1ehone ended x\n" + endMark + "1234\n" + endMark + "256\n", nil, endCode(7)},
		{"no code", endMark + "\n" + endMark + "-1\n", endMark + "\n" + endMark + "-1\n", nil, errUnread},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.output); size++ {
				var passed strings.Builder
				e := &ending{out: &passed}
				for rest := tt.output; rest != ""; rest = rest[min(size, len(rest)):] {
					if n, err := e.Write([]byte(rest[:min(size, len(rest))])); n != min(size, len(rest)) || err != nil {
						t.Fatalf("wrote %d, %v", n, err)
					}
				}
				if err := e.verdict(tt.err); !errors.Is(err, tt.want) {
					t.Errorf("in pieces of %d: %v, want %v", size, err, tt.want)
				}
				if passed.String() != tt.passed {
					t.Errorf("in pieces of %d: passed on %q, want %q", size, passed.String(), tt.passed)
				}
			}
		})
	}
	e := &ending{out: failing{}}
	if _, err := e.Write([]byte("a")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("an output that fails: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzEnding checks that nothing of the output is lost, in whatever pieces it comes.
func FuzzEnding(f *testing.F) {
	f.Add("a"+endMark, "0\nb")
	f.Add("\x1e", "hone ended 12\n")
	f.Fuzz(func(t *testing.T, one, two string) {
		var whole, parts strings.Builder
		a, b := &ending{out: &whole}, &ending{out: &parts}
		_, _ = a.Write([]byte(one + two))
		_, _ = b.Write([]byte(one))
		_, _ = b.Write([]byte(two))
		if ea, eb := a.verdict(nil), b.verdict(nil); !errors.Is(ea, eb) || whole.String() != parts.String() {
			t.Errorf("as a whole %q, %v; in parts %q, %v", whole.String(), ea, parts.String(), eb)
		}
		if !strings.Contains(one+two, endMark) && whole.String() != one+two {
			t.Errorf("got %q of %q", whole.String(), one+two)
		}
	})
}

// TestSaying runs the command lines with a shell of this machine.
func TestSaying(t *testing.T) {
	for _, tt := range []struct {
		name   string
		argv   []string
		passed string
		want   error
	}{
		{"arguments as they are", saying(itself, "printf", "%s|", "a b", "$HOME", "'", ""), "a b|$HOME|'||", nil},
		{"a failure", saying(itself, "sh", "-c", "echo a; exit 3"), "a\n", endCode(3)},
		{"killed", saying(itself, "sh", "-c", "kill -KILL $$"), "", endCode(codeKilled)},
		{"nothing of the shell's own", saying(itself, "exit", "0"), "", endCode(codeNotFound)},
		{"no such program", saying(itself, "/no/such"), "", endCode(codeNotFound)},
		{"no program", saying(itself, "/etc/passwd"), "", endCode(codeNotExecutable)},
		{"a script that leaves", saying("exit 90"), "", endCode(codeRemove)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var passed strings.Builder
			e := &ending{out: &passed}
			cmd := exec.CommandContext(t.Context(), tt.argv[0], tt.argv[1:]...)
			cmd.Stdout = e
			ended := cmd.Run()
			err := e.verdict(ended)
			if !errors.Is(err, tt.want) || passed.String() != tt.passed {
				t.Errorf("got %q, %v (%v), want %q, %v", passed.String(), err, ended, tt.passed, tt.want)
			}
			if code, exited := failed(err); exited && cmd.ProcessState.ExitCode() != code {
				t.Errorf("the shell exited with %d", cmd.ProcessState.ExitCode())
			}
		})
	}
}
