package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns both ends of a connection.
func pair(t *testing.T) (*Conn, *Conn) {
	a, b := net.Pipe()
	local, remote := NewConn(a), NewConn(b)
	t.Cleanup(func() {
		_ = local.Close()
		_ = remote.Close()
	})
	return local, remote
}

func TestTextGoesBothWays(t *testing.T) {
	local, c := pair(t)
	remote := &Remote{Conn: c}
	long := strings.Repeat("0123456789", 20_000)
	sizes := make(chan [2]int, 1)
	remote.OnResize(func() {
		columns, rows := remote.Size()
		sizes <- [2]int{columns, rows}
	})
	sent := make(chan error, 1)
	go func() {
		sent <- errors.Join(local.Send(Text, []byte("abc")), local.SendSize(120, 100_000), local.Send(Text, nil), local.Send(Text, []byte(long)))
	}()
	got := make([]byte, 3+len(long))
	if _, err := io.ReadFull(remote, got); err != nil || string(got) != "abc"+long {
		t.Errorf("%v, %d bytes", err, len(got))
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([2]int{120, maxSide}, <-sizes); diff != "" {
		t.Errorf("size (-want +got):\n%s", diff)
	}
	go func() {
		_, err := remote.Write([]byte(long))
		sent <- errors.Join(err, remote.Send(End, []byte("bye")))
	}()
	var shown bytes.Buffer
	for {
		f, err := local.Next()
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == End {
			if string(f.Content) != "bye" {
				t.Errorf("the end says %q", f.Content)
			}
			break
		}
		shown.Write(f.Content)
	}
	if err := <-sent; err != nil || shown.String() != long {
		t.Errorf("%v, %d bytes", err, shown.Len())
	}
}

// TestFinish ends a terminal whose client neither reads nor writes.
func TestFinish(t *testing.T) {
	_, c := pair(t)
	remote := &Remote{Conn: c}
	done := make(chan error, 2)
	go func() {
		_, err := remote.Read(make([]byte, 1))
		done <- err
	}()
	go func() {
		_, err := remote.Write([]byte("never read"))
		done <- err
	}()
	remote.Finish()
	for range 2 {
		if err := <-done; err == nil {
			t.Error("no error")
		}
	}
}

// TestPause stops a reader in the middle of a frame: nothing is lost.
func TestPause(t *testing.T) {
	a, b := net.Pipe()
	c := NewConn(b)
	defer c.Close()
	whole := appendFrame(nil, Text, []byte("hello"))
	paused := make(chan error)
	go func() {
		_, err := c.Next()
		paused <- err
	}()
	if _, err := a.Write(whole[:5]); err != nil { // returns when they have been read
		t.Fatal(err)
	}
	c.Pause()
	if err := <-paused; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	c.Resume()
	go func() {
		_, _ = a.Write(whole[5:])
		_ = a.Close()
	}()
	if f, err := c.Next(); err != nil || f.Kind != Text || string(f.Content) != "hello" {
		t.Errorf("%q %q %v", f.Kind, f.Content, err)
	}
	if _, err := c.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

// TestPrograms lends a terminal to programs of its user.
func TestPrograms(t *testing.T) {
	local, c := pair(t)
	remote := &Remote{Conn: c, columns: 80, rows: 24}
	answers := make(chan error, 1)
	go func() {
		var errs []error
		for _, want := range []string{"d/src/a.go:41", "p/tmp/log:0"} {
			f, err := local.Next()
			path, line := f.Place()
			if got := fmt.Sprintf("%c%s:%d", f.Kind, path, line); err != nil || got != want {
				errs = append(errs, fmt.Errorf("%s: got %s, %w", want, got, err))
			}
			errs = append(errs, local.Send(Text, []byte("typed before")), local.SendSize(100, 30), local.SendDone(map[bool]string{true: "vi failed"}[f.Kind == Edit]))
		}
		answers <- errors.Join(errs...)
	}()
	if err := remote.Edit(t.Context(), "/src/a.go", 41); err == nil || err.Error() != "vi failed" {
		t.Errorf("%v", err)
	}
	if columns, rows := remote.Size(); columns != 100 || rows != 30 {
		t.Errorf("%d×%d", columns, rows)
	}
	if err := remote.Page(t.Context(), "/tmp/log"); err != nil {
		t.Error(err)
	}
	if err := <-answers; err != nil {
		t.Error(err)
	}
	if err := remote.Edit(t.Context(), "/"+strings.Repeat("x", 1<<16), 0); err == nil {
		t.Error("a long path was sent")
	}

	// The end of the session does not wait for a program, and draws nothing over it.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := local.Next()
		cancel()
		answers <- err
	}()
	if err := remote.Edit(ctx, "/src/a.go", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-answers; err != nil {
		t.Error(err)
	}
	if n, err := remote.Write([]byte("drawn")); n != 5 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	go func() { answers <- remote.Send(End, []byte("over")) }()
	if f, err := local.Next(); err != nil || f.Kind != End {
		t.Errorf("%q %v", f.Kind, err)
	}
	if err := <-answers; err != nil {
		t.Error(err)
	}
	// The end cannot be taken back.
	remote.Finish()
	remote.Resume()
	if _, err := remote.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestDescription(t *testing.T) {
	d := Description{Term: "xterm-256color", ColorTerm: "truecolor", Columns: 120, Rows: 34, UTF8: true, NoColor: true, Programs: true, Commands: true,
		Program: "iTerm.app", Version: "3.6.6", Background: "15;0", Host: "laptop", Settings: `{"theme":"dark"}`}
	a, b := net.Pipe()
	go func() {
		_ = NewConn(a).SendHello(d)
		_ = a.Close()
	}()
	remote, err := Accept(b)
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	if diff := cmp.Diff(d, remote.Description); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "columns=80&rows=24", "%zz", "term=-x&columns=80&rows=24", "term=../../x&columns=80&rows=24",
		"term=xterm&columns=0&rows=24", "term=xterm&columns=80", "term=xterm&columns=a&rows=24",
		"term=xterm&columns=80&rows=24&host=" + strings.Repeat("x", 1000), "term=xterm&columns=80&rows=24&settings=" + strings.Repeat("x", 40_000)} {
		if _, err := describe([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	huge, err := describe(Description{Term: "xterm", Columns: 1 << 20, Rows: 1 << 20}.encode())
	if err != nil || huge.Columns != maxSide || huge.Rows != maxSide {
		t.Errorf("%+v %v", huge, err)
	}
}

// TestLongSettings are refused before they are sent: they would be cut, or the session would not take them.
func TestLongSettings(t *testing.T) {
	local, _ := pair(t)
	for _, s := range []string{strings.Repeat("x", longestSettings+1), strings.Repeat("\"", longestSettings)} {
		err := local.SendHello(Description{Term: "xterm", Columns: 80, Rows: 24, Settings: s})
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Mend, "screen.yaml") {
			t.Errorf("%v", err)
		}
	}
}

// TestCommands runs commands at the client: several without the terminal at a time, also while a program has the terminal, and
// one that has it.
func TestCommands(t *testing.T) {
	local, c := pair(t)
	remote := &Remote{Conn: c, columns: 80, rows: 24}
	got := make(chan Request, 8)
	go func() {
		for {
			f, err := local.Next()
			if err != nil {
				close(got)
				return
			}
			r, err := f.Request()
			if f.Kind != Command || err != nil {
				t.Errorf("%q %v", f.Kind, err)
			}
			got <- r
		}
	}()
	type result struct {
		out string
		err error
	}
	start := func(name string, env ...string) (Request, chan result) {
		done := make(chan result, 1)
		go func() {
			out, err := remote.Background(t.Context(), name, env)
			done <- result{out, err}
		}()
		return <-got, done
	}
	reader := make(chan error, 1)
	read := func() {
		b := make([]byte, 8)
		n, err := remote.Read(b)
		if string(b[:n]) != "k" {
			err = fmt.Errorf("read %q, %w", b[:n], err)
		}
		reader <- err
	}
	go read()
	one, first := start("describe", "HONE_POD=api-1", "HONE_LINE=größer = kleiner")
	two, second := start("logs")
	if diff := cmp.Diff(Request{1, "describe", []string{"HONE_POD=api-1", "HONE_LINE=größer = kleiner"}}, one); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long := strings.Repeat("0123456789", MaxOutput/10+1)
	if err := errors.Join(local.SendEnded(99, "of nobody", ""), local.SendEnded(two.Number, long, "exit status 3"), local.SendEnded(two.Number, "twice", ""), local.Send(Text, []byte("k"))); err != nil {
		t.Fatal(err)
	}
	if r := <-second; r.out != long[:MaxOutput] || r.err == nil || r.err.Error() != "exit status 3" {
		t.Errorf("%d bytes, %v", len(r.out), r.err)
	}
	if err := <-reader; err != nil {
		t.Error(err)
	}

	// The first ends while another command has the terminal.
	failed := make(chan error, 1)
	go func() { failed <- remote.Command(t.Context(), "psql", []string{"HONE_POD=api-1"}) }()
	if diff := cmp.Diff(Request{InTerminal, "psql", []string{"HONE_POD=api-1"}}, <-got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := local.SendEnded(one.Number, "Name: api\n", ""); err != nil {
		t.Fatal(err)
	}
	if r := <-first; r.out != "Name: api\n" || r.err != nil {
		t.Errorf("%q, %v", r.out, r.err)
	}
	if err := local.SendDone("psql: no server"); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || err.Error() != "psql: no server" {
		t.Errorf("%v", err)
	}

	remote.Resume()
	go read()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := remote.Background(ctx, "describe", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	late := <-got
	if err := errors.Join(local.SendEnded(late.Number, "late", ""), local.Send(Text, []byte("k"))); err != nil {
		t.Error(err)
	}
	if err := <-reader; err != nil {
		t.Error(err)
	}
	for _, bad := range []Request{{1, "", nil}, {1, "a\x00b", nil}, {1, "\xff", nil}, {1, "a", []string{"HONE_LINE=\xff"}}, {1, "a", []string{"HONE_LINE"}},
		{1, "a", []string{"=x"}}, {1, "a", []string{"HONE_LINE=a\x00PATH=/tmp"}}, {1, "a", []string{"HONE_LINE=" + strings.Repeat("x", maxContent)}}} {
		if err := remote.Command(t.Context(), bad.Name, bad.Env); err == nil {
			t.Errorf("the command %.40q was sent", bad.Name)
		}
		if _, err := remote.Background(t.Context(), bad.Name, bad.Env); err == nil {
			t.Errorf("the command %.40q was sent", bad.Name)
		}
	}
	if remote.lent {
		t.Error("a refused command keeps the terminal")
	}
	_ = local.Close()
	if _, more := <-got; more {
		t.Error("another request was sent")
	}
	if len(remote.running) > 0 {
		t.Errorf("%d requests are remembered", len(remote.running))
	}
}

// FuzzRequests reads arbitrary requests for commands: each accepted one is the same when it is encoded again.
func FuzzRequests(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01describe\x00HONE_POD=api-1"))
	f.Add([]byte("\x00\x00\x00\x00a"))
	f.Add([]byte("\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x02a\x00b\x00=\x00\xff=\xff"))
	f.Fuzz(func(t *testing.T, content []byte) {
		reads := reader{in: bytes.NewReader(appendFrame(nil, Command, content[:min(len(content), maxContent)]))}
		frame, err := reads.next()
		if err != nil {
			if len(content) >= numberSize {
				t.Fatal(err)
			}
			return
		}
		r, err := frame.Request()
		if err != nil {
			return
		}
		if again, err := r.encode(); err != nil || !bytes.Equal(again, frame.Content) {
			t.Errorf("%q became %q, %v", frame.Content, again, err)
		}
	})
}

// FuzzFrames reads arbitrary input of a client: the frames that are read are those that were written, and nothing else
// is read as a frame.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("t\x00\x03abcs\x00\x04\x00\x50\x00\x18e\x00\x00"))
	f.Add(append(appendFrame(nil, Hello, Description{Term: "xterm", Columns: 80, Rows: 24}.encode()), "t\x00\x01as\x00\x04\x00\x00\x00\x00"...))
	f.Add([]byte("s\x00\x02ab"))
	f.Add([]byte("x\x00\x00"))
	f.Add([]byte("d\x00\x06\x00\x00\x00\x07/ap\x00\x02/br\x00\x00d\x00\x01\x00"))
	f.Add([]byte("t\xff\xffabc"))
	f.Add([]byte("c\x00\x08\x00\x00\x00\x01a\x00=bu\x00\x05\x00\x00\x00\x01xn\x00\x04\x00\x00\x00\x01n\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := reader{in: bytes.NewReader(in)}
		var again []byte
		for {
			frame, err := r.next()
			if err != nil {
				if errors.Is(err, io.EOF) && !bytes.Equal(in, again) {
					t.Errorf("read %q, wrote %q", in, again)
				}
				if !bytes.HasPrefix(in, again) {
					t.Errorf("read %q of %q", again, in)
				}
				break
			}
			if frame.Kind == Size {
				frame.size()
			}
			if frame.Kind == Edit || frame.Kind == Page {
				frame.Place()
			}
			if frame.Kind == Command {
				_, _ = frame.Request()
			}
			if frame.Kind == Output || frame.Kind == Ended {
				frame.Answer()
			}
			again = appendFrame(again, frame.Kind, frame.Content)
		}
		a, b := net.Pipe()
		go func() {
			_, _ = a.Write(in)
			_ = a.Close()
		}()
		remote, err := Accept(b)
		if err == nil {
			_, _ = io.Copy(io.Discard, remote)
		}
		_ = b.Close()
		if err != nil {
			return
		}
		if columns, rows := remote.Size(); columns < 1 || rows < 1 || columns > maxSide || rows > maxSide {
			t.Errorf("size %d×%d", columns, rows)
		}
	})
}
