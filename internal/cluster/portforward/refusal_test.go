package portforward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFailedDialGoesToTheNewPod(t *testing.T) {
	inMemory(t, Options{}, func(t *testing.T, f *Forward, l *memoryListener, p *pods) {
		p.set("new", say("hello"))
		f.SetTarget(&Target{"ns", "dead", 80})
		c := l.dial()
		time.Sleep(time.Second)
		synctest.Wait()
		if s := f.Status(); s.State != StateError || !strings.Contains(s.Message, "cannot reach ns/dead:80: connection refused") {
			t.Errorf("status %+v, want the error of the dial", s)
		}
		before := time.Now()
		f.SetTarget(&Target{"ns", "new", 80})
		if got, err := io.ReadAll(c); err != nil || string(got) != "hello" || time.Since(before) != 0 {
			t.Errorf("read %q, %v after %s; want the new pod at once", got, err, time.Since(before))
		}
		if s := f.Status(); s.State != StateReady || s.Message != "" {
			t.Errorf("status %+v, want ready", s)
		}
	})
}

func TestAppThatStartsWithinTheWaitIsReached(t *testing.T) {
	inMemory(t, Options{}, func(t *testing.T, f *Forward, l *memoryListener, p *pods) {
		f.SetTarget(&Target{"ns", "a", 80})
		c := l.dial()
		time.Sleep(3 * time.Second)
		p.set("a", say("up"))
		if got, err := io.ReadAll(c); err != nil || string(got) != "up" {
			t.Errorf("read %q, %v", got, err)
		}
		if n := len(p.dials); n > 9 {
			t.Errorf("%d dials in 3 s, want a growing pause between them", n)
		}
	})
}

// lazy is a tunnel that notices only on a read that nothing listens.
type lazy struct {
	pods
	err error
}

type refusedConn struct {
	net.Conn
	err error
}

func (c refusedConn) Read([]byte) (int, error) { return 0, c.err }

func (d *lazy) DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	c, err := d.pods.DialPod(ctx, namespace, pod, port)
	if err != nil {
		near, far := net.Pipe()
		d.wg.Go(func() { _, _ = io.Copy(io.Discard, far) })
		return refusedConn{near, d.err}, nil //nolint:nilerr // the read returns the error
	}
	return c, nil
}

func TestRefusalThatComesLateIsTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		send string
		want string
	}{
		{"refused after the request was sent", errors.New("connect: connection refused"), "request", "got request"},
		{"gone before anything was sent", errors.New("lost connection to pod"), "", "got "},
		{"gone after the request was sent", errors.New("lost connection to pod"), "request", ""},
		{"too much to keep", errors.New("connect: connection refused"), strings.Repeat("x", replayLimit+1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, d := newMemoryListener(), &lazy{err: tt.err}
				f := New(l, d, Options{})
				stop := start(t, f)
				f.SetTarget(&Target{"ns", "a", 80})
				c := l.dial()
				got := make(chan string)
				go func() {
					if tt.send != "" {
						_, _ = io.WriteString(c, tt.send)
					}
					text, _ := io.ReadAll(c)
					got <- string(text)
				}()
				time.Sleep(2 * time.Second)
				if s := f.Status(); tt.want != "" && (s.State != StateError || !strings.Contains(s.Message, strings.TrimPrefix(tt.err.Error(), "connect: "))) {
					t.Errorf("status %+v, want what was refused", s)
				}
				d.set("a", func(c net.Conn) {
					in := make([]byte, len(tt.send))
					_, _ = io.ReadFull(c, in)
					_, _ = fmt.Fprintf(c, "got %s", in)
				})
				if text := <-got; text != tt.want {
					t.Errorf("the client got %q, want %q", text, tt.want)
				}
				if s := f.Status(); tt.want != "" && s.State != StateReady {
					t.Errorf("status %+v, want ready", s)
				}
				stop()
				d.wg.Wait()
			})
		})
	}
}

// TestProgramThatResets: a program that resets each connection has answered; its client sees the reset at once, and the reason is shown.
func TestProgramThatResets(t *testing.T) {
	for name, send := range map[string]string{"at once": "", "after the request": "request"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, d := newMemoryListener(), &lazy{err: errors.New("connection to pod ns/a:80: the program reset the connection")}
				f := New(l, d, Options{})
				stop := start(t, f)
				f.SetTarget(&Target{"ns", "a", 80})
				c, began := l.dial(), time.Now()
				go func() { _, _ = io.WriteString(c, send) }()
				if _, err := io.ReadAll(c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
					t.Error(err)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("the client was kept for %s", took)
				}
				synctest.Wait()
				if s := f.Status(); s.Message != "cannot reach ns/a:80: the program reset the connection" {
					t.Errorf("status %+v", s)
				}
				stop()
				d.wg.Wait()
			})
		})
	}
}

// fading refuses some connections, and then stops answering.
type fading struct {
	left int
	hangs
}

func (d *fading) DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	if d.left--; d.left >= 0 {
		return nil, errors.New("the network namespace is gone")
	}
	return d.hangs.DialPod(ctx, namespace, pod, port)
}

// TestEndOfTheWaitHidesNoReason: a lasting failure stays the reason when the wait ends during an attempt.
func TestEndOfTheWaitHidesNoReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemoryListener()
		f := New(l, &fading{left: 3}, Options{Wait: 4 * time.Second})
		stop := start(t, f)
		f.SetTarget(&Target{"ns", "a", 80})
		c := l.dial()
		_, _ = c.Read(make([]byte, 1))
		synctest.Wait()
		if s := f.Status(); s.Cause != "the network namespace is gone" {
			t.Errorf("status %+v", s)
		}
		stop()
	})
}

// hangs is a dialer that answers only when its context ends.
type hangs struct{}

func (hangs) DialPod(ctx context.Context, _, _ string, _ int) (net.Conn, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("dial: %w", ctx.Err())
}

func TestDialThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemoryListener()
		f := New(l, hangs{}, Options{Wait: 7 * time.Second, DialTimeout: 5 * time.Second})
		stop := start(t, f)
		f.SetTarget(&Target{"ns", "a", 80})
		c := l.dial()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if s := f.Status(); s.Message != "cannot reach ns/a:80: no answer within 5s" {
			t.Errorf("message %q", s.Message)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
		stop()
	})
}
