//go:build linux

package synclet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

func TestLearn(t *testing.T) {
	r := newRig(t)
	for _, n := range []string{"same", "differs", "new"} {
		r.write(n, n)
	}
	writeFile(t, filepath.Join(r.remote, "same"), "same", 0o644)
	writeFile(t, filepath.Join(r.remote, "differs"), "other", 0o644)
	b := r.batch("same", "differs", "new", "gone already")
	paths := append([]string(nil), b.Deletes...)
	for _, p := range b.Puts {
		paths = append(paths, p.Remote)
	}
	check(t, r.Learn(t.Context(), paths))
	rep, err := r.Apply(t.Context(), b)
	check(t, err)
	if rep.Files != 2 || rep.Same != 2 || rep.Deletes != 0 {
		t.Errorf("report %+v", rep)
	}
	entries := 0
	check(t, r.list(t.Context(), []protocol.Place{{Dir: r.remote}}, 0, func(*protocol.Entry) error {
		entries++
		return nil
	}))
	if entries != 4 { // the folder itself is one
		t.Errorf("%d entries", entries)
	}
}

func TestRun(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		script, out string
		code        int
	}{
		{"echo out; echo err >&2; pwd", "out\nerr\n" + r.remote + "\n", 0},
		{"exit 3", "", 3},
		{"kill -9 $$", "", 137},
		{"echo $A; cat", "b\n", 0},
	} {
		var out bytes.Buffer
		err := r.Conversation.Run(t.Context(), []string{"sh", "-c", tt.script}, r.remote, []string{"A=b"}, &out)
		var exit *ExitError
		code := 0
		if errors.As(err, &exit) {
			code = exit.Code
		} else if err != nil {
			t.Errorf("%s: %v", tt.script, err)
		}
		if len(out.String()) != len(tt.out) || code != tt.code { // two streams come in any order
			t.Errorf("%s: %q, code %d", tt.script, out.String(), code)
		}
	}
	var exit *ExitError
	if err := r.Conversation.Run(t.Context(), []string{"no-such-program"}, "", nil, io.Discard); !errors.As(err, &exit) || exit.Code != 127 {
		t.Errorf("got %v", err)
	}
}

// TestRunKilled cancels a command with a child, and sends files meanwhile.
func TestRunKilled(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- r.Conversation.Run(ctx, []string{"sh", "-c", "sleep 1000 & echo started; wait"}, "", nil, w)
		w.Close()
	}()
	line := make([]byte, 8)
	_, err := io.ReadFull(out, line)
	check(t, err)
	r.write("a", "meanwhile")
	r.apply("a")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := r.Restart(t.Context(), protocol.Step{}, time.Second); !errors.Is(err, ErrNoSupervisor) {
		t.Errorf("got %v", err)
	}
}

// TestCut breaks the stream at every byte of a conversation with one update, in either direction. Data lost on the way
// there leaves the container as it was; data lost on the way back leaves it as it was or as it should become; whatever
// is reported as done is done; and the next conversation delivers the rest.
func TestCut(t *testing.T) {
	local := t.TempDir()
	names := []string{"d0/f", "d1/f", "d2/f", "d3/f", "d4/f", "d5/f"}
	for i := 1; i <= 5; i++ {
		writeFile(t, filepath.Join(local, fmt.Sprintf("d%d/f", i)), strings.Repeat("new", 10), 0o644)
	}
	for _, direction := range []string{"there", "back"} {
		t.Run(direction, func(t *testing.T) {
			t.Parallel()
			cuts, changed := 0, 0
			for limit := 1; ; limit++ {
				r := &rig{TB: t, local: local, remote: filepath.Join(t.TempDir(), "container")}
				for i := range 5 {
					writeFile(t, filepath.Join(r.remote, fmt.Sprintf("d%d/f", i)), "old", 0o644)
				}
				before := tree(t, r.remote)
				if direction == "there" {
					r.connect(limit)
				} else {
					r.back = limit
					r.connect(-1)
				}
				err := errors.New("not even hello")
				if r.Conversation != nil {
					_, err = r.Apply(t.Context(), r.batch(names...))
				}
				r.end()
				got := tree(t, r.remote)
				r.connect(-1)
				b := r.batch(names...)
				check(t, r.Learn(t.Context(), remotes(planOf(b))))
				_, again := r.Apply(t.Context(), b)
				check(t, again)
				r.end()
				after := tree(t, r.remote)
				if len(after) != 12-1 || after["d5/f"] != "-rw-r--r-- "+strings.Repeat("new", 10) {
					t.Fatalf("after another conversation: %v", after)
				}
				if err == nil {
					if d := cmp.Diff(after, got); d != "" {
						t.Errorf("reported as done (-want +got):\n%s", d)
					}
					break
				}
				cuts++
				switch {
				case cmp.Equal(before, got):
				case direction == "back" && cmp.Equal(after, got):
					changed++
				default:
					t.Fatalf("cut after %d bytes: %v", limit, got)
				}
			}
			t.Logf("%d cuts, %d of them after the change", cuts, changed)
			if cuts < 30 || direction == "back" && changed == 0 {
				t.Error("too few")
			}
		})
	}
}

func TestOpenFails(t *testing.T) {
	for _, tt := range []struct{ name, says, want string }{
		{"nothing", "", "EOF"},
		{"noise", "sh: head: not found\n", `sh: head: not found`},
		{"another version", "hello" + protocol.Preamble + "\x00\x00\x00\x00\x01\x63\x00\x00\x00\x00\x00\x00", "another version"},
	} {
		in, w := io.Pipe()
		go func() {
			_, _ = io.WriteString(w, tt.says)
			w.Close()
		}()
		drain, toSynclet := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, drain) }()
		_, err := Open(t.Context(), &duplex{r: in, w: toSynclet, limit: -1}, protocol.Hello{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	cancel()
	if _, err := Open(ctx, &duplex{r: in, w: w, limit: -1}, protocol.Hello{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFaultError(t *testing.T) {
	err := error(&FaultError{Faults: []protocol.Fault{{Path: "/a", Errno: uint64(syscall.EROFS), Text: "open: read-only"}, {Path: "/b"}, {Path: "/c"}, {Path: "/d"}, {Path: "/e"}}})
	if !errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) {
		t.Error("the reason is not recognised")
	}
	if got, want := err.Error(), "/a: open: read-only; /b: ; /c: ; and 2 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEndlessAnswers talks to programs that never stop answering: the request fails, memory stays bounded, and the reports of a
// process arrive at a pace that others can bear.
func TestEndlessAnswers(t *testing.T) {
	path, long := "/a", "/"+strings.Repeat("b", 100<<10)
	for _, tt := range []struct {
		name   string
		answer protocol.Message
		err    error
	}{
		{"entries", &protocol.Entry{ID: 1, Path: path}, errForeign},
		{"entries that were not asked for", &protocol.Entry{ID: 1, Path: long}, errForeign},
		{"signs of life", &protocol.Pong{}, ErrSilent},
		{"reports", &protocol.Process{Starts: 1}, ErrSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				var program sync.WaitGroup
				defer program.Wait()
				program.Go(func() { _, _ = io.Copy(io.Discard, far) })
				program.Go(func() {
					_, _ = io.WriteString(far, protocol.Preamble)
					w := protocol.NewWriter(far)
					w.Append(&protocol.Hello{})
					for w.Flush() == nil {
						w.Append(tt.answer)
						time.Sleep(5 * time.Millisecond)
					}
				})
				s, err := Open(t.Context(), near, protocol.Hello{})
				check(t, err)
				defer s.Close()
				reports := 0
				s.OnProcess(func(protocol.Process) { reports++ })
				if err := s.Learn(t.Context(), []string{path}); !errors.Is(err, ErrClosed) || !errors.Is(err, tt.err) {
					t.Errorf("got %v", err)
				}
				_ = s.Close()
				if most := int(longestAnswer.Seconds()*reportRate) + reportBurst; reports > most {
					t.Errorf("%d reports, want at most %d", reports, most)
				}
			})
		})
	}
}

// FuzzHostile talks to a program that answers with arbitrary data: every request ends, nothing outside of the requested
// paths is believed, and the conversation ends with its stream.
func FuzzHostile(f *testing.F) {
	var good bytes.Buffer
	w := protocol.NewWriter(&good)
	for _, m := range []protocol.Message{&protocol.Hello{Supervised: true}, &protocol.Entry{ID: 1, Path: "/a"}, &protocol.Listed{ID: 1},
		&protocol.Applied{ID: 2, Faults: []protocol.Fault{{Path: "/a"}}}, &protocol.Exited{ID: 3, Code: 1}, &protocol.Restarted{ID: 4},
		&protocol.Pong{ID: 5}, &protocol.Process{Starts: 1}, &protocol.Output{ID: 99}, &protocol.Failed{Text: "no"}, &protocol.Begin{}} {
		w.Append(m)
	}
	check(f, w.Flush())
	f.Add(good.Bytes())
	// Answers that come twice, before their question, or to another.
	for _, m := range []protocol.Message{&protocol.Applied{ID: 1}, &protocol.Exited{ID: 1}, &protocol.Pong{ID: 1}, &protocol.Listed{ID: 2}} {
		var b bytes.Buffer
		w := protocol.NewWriter(&b)
		for _, m := range []protocol.Message{&protocol.Hello{}, m, m, m} {
			w.Append(m)
		}
		check(f, w.Flush())
		f.Add(b.Bytes())
	}
	local := filepath.Join(f.TempDir(), "a")
	check(f, os.WriteFile(local, []byte("x"), 0o600))
	f.Fuzz(func(t *testing.T, answers []byte) {
		in, out := io.Pipe()
		drain, toSynclet := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, drain) }()
		go func() {
			_, _ = io.WriteString(out, protocol.Preamble)
			_, _ = out.Write(answers)
			_ = out.Close()
		}()
		s, err := Open(t.Context(), &duplex{r: in, w: toSynclet, limit: -1}, protocol.Hello{})
		if err != nil {
			return
		}
		defer s.Close()
		s.OnProcess(func(protocol.Process) {})
		_ = s.Learn(t.Context(), []string{"/a"})
		_, _ = s.Apply(t.Context(), Batch{Puts: []Put{{Local: local, Remote: "/a"}}, Deletes: []string{"/b"}})
		_ = s.Run(t.Context(), []string{"true"}, "", nil, io.Discard)
		_ = s.Restart(t.Context(), protocol.Step{}, time.Second)
		_, _ = s.Ping(t.Context())
		<-s.Done()
		if _, err := s.Apply(t.Context(), Batch{Deletes: []string{"/never"}}); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}
