package terminal

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns both ends of a connection.
func pair(t *testing.T) (*Conn, *Conn) {
	a, b := net.Pipe()
	near, far := NewConn(a), NewConn(b)
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
	})
	return near, far
}

func TestTextGoesBothWays(t *testing.T) {
	near, c := pair(t)
	far := &Far{Conn: c}
	long := strings.Repeat("0123456789", 20_000)
	sizes := make(chan [2]int, 1)
	far.OnResize(func() {
		columns, rows := far.Size()
		sizes <- [2]int{columns, rows}
	})
	sent := make(chan error, 1)
	go func() {
		sent <- errors.Join(near.Send(Text, []byte("abc")), near.SendSize(120, 100_000), near.Send(Text, nil), near.Send(Text, []byte(long)))
	}()
	got := make([]byte, 3+len(long))
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "abc"+long {
		t.Errorf("%v, %d bytes", err, len(got))
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([2]int{120, maxSide}, <-sizes); diff != "" {
		t.Errorf("size (-want +got):\n%s", diff)
	}
	go func() {
		_, err := far.Write([]byte(long))
		sent <- errors.Join(err, far.Send(End, []byte("bye")))
	}()
	var shown bytes.Buffer
	for {
		f, err := near.Next()
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
	far := &Far{Conn: c}
	done := make(chan error, 2)
	go func() {
		_, err := far.Read(make([]byte, 1))
		done <- err
	}()
	go func() {
		_, err := far.Write([]byte("never read"))
		done <- err
	}()
	far.Finish()
	for range 2 {
		if err := <-done; err == nil {
			t.Error("no error")
		}
	}
}

func TestDescription(t *testing.T) {
	d := Description{Term: "xterm-256color", ColorTerm: "truecolor", Columns: 120, Rows: 34, UTF8: true, NoColor: true}
	a, b := net.Pipe()
	go func() {
		_ = NewConn(a).SendHello(d)
		_ = a.Close()
	}()
	far, err := Accept(b)
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	if diff := cmp.Diff(d, far.Description); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "columns=80&rows=24", "%zz", "term=-x&columns=80&rows=24", "term=../../x&columns=80&rows=24",
		"term=xterm&columns=0&rows=24", "term=xterm&columns=80", "term=xterm&columns=a&rows=24"} {
		if _, err := describe([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	huge, err := describe(Description{Term: "xterm", Columns: 1 << 20, Rows: 1 << 20}.encode())
	if err != nil || huge.Columns != maxSide || huge.Rows != maxSide {
		t.Errorf("%+v %v", huge, err)
	}
}

// FuzzFrames reads arbitrary input of a client: the frames that are read are those that were written, and nothing else
// is read as a frame.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("t\x00\x03abcs\x00\x04\x00\x50\x00\x18e\x00\x00"))
	f.Add(append(appendFrame(nil, Hello, Description{Term: "xterm", Columns: 80, Rows: 24}.encode()), "t\x00\x01as\x00\x04\x00\x00\x00\x00"...))
	f.Add([]byte("s\x00\x02ab"))
	f.Add([]byte("x\x00\x00"))
	f.Add([]byte("t\xff\xffabc"))
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
			again = appendFrame(again, frame.Kind, frame.Content)
		}
		a, b := net.Pipe()
		go func() {
			_, _ = a.Write(in)
			_ = a.Close()
		}()
		far, err := Accept(b)
		if err == nil {
			_, _ = io.Copy(io.Discard, far)
		}
		_ = b.Close()
		if err != nil {
			return
		}
		if columns, rows := far.Size(); columns < 1 || rows < 1 || columns > maxSide || rows > maxSide {
			t.Errorf("size %d×%d", columns, rows)
		}
	})
}
