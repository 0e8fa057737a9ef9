package portforward

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConnectionsGoToTheCurrentPod(t *testing.T) {
	f, p := overTCP(t, Options{})
	p.set("a", say("from a"))
	p.set("b", say("from b"))
	for _, pod := range []string{"a", "b", "a"} {
		f.SetTarget(&Target{"ns", pod, 80})
		got, err := io.ReadAll(dial(t, f))
		if err != nil || string(got) != "from "+pod {
			t.Errorf("read %q, %v; want what %s says", got, err, pod)
		}
	}
	want := []string{"ns/a:80", "ns/b:80", "ns/a:80"}
	if diff := cmp.Diff(want, p.dials); diff != "" {
		t.Errorf("dials (-want +got):\n%s", diff)
	}
}

func TestHalfClose(t *testing.T) {
	f, p := overTCP(t, Options{})
	p.set("a", func(c net.Conn) {
		text, _ := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "got %q", text)
	})
	f.SetTarget(&Target{"ns", "a", 80})
	c := dial(t, f)
	_, _ = io.WriteString(c, "request")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != `got "request"` {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestPodThatEndsItsSideStillReads(t *testing.T) {
	f, p := overTCP(t, Options{})
	read := make(chan string, 1)
	p.set("a", func(c net.Conn) {
		_, _ = io.WriteString(c, "bye")
		_ = c.(*net.TCPConn).CloseWrite()
		text, _ := io.ReadAll(c)
		read <- string(text)
	})
	f.SetTarget(&Target{"ns", "a", 80})
	c := dial(t, f)
	if got, err := io.ReadAll(c); err != nil || string(got) != "bye" {
		t.Fatalf("read %q, %v", got, err)
	}
	_, _ = io.WriteString(c, "upload")
	_ = c.CloseWrite()
	if got := <-read; got != "upload" {
		t.Errorf("the pod read %q", got)
	}
}

func TestKilledPodEndsItsConnectionsOnly(t *testing.T) {
	f, p := overTCP(t, Options{})
	kill := make(chan struct{})
	p.set("a", func(c net.Conn) {
		_, _ = c.Write(make([]byte, 1000))
		<-kill
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	p.set("b", echo)
	f.SetTarget(&Target{"ns", "a", 80})
	onA := dial(t, f)
	if _, err := io.ReadFull(onA, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	f.SetTarget(&Target{"ns", "b", 80})
	onB := dial(t, f)
	ping(t, onB, "before")
	close(kill)
	if _, err := onA.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection to the killed pod ends with %v, want a reset", err)
	}
	ping(t, onB, "after")
}

func TestManyConnectionsAtOnce(t *testing.T) {
	f, p := overTCP(t, Options{})
	p.set("a", echo)
	f.SetTarget(&Target{"ns", "a", 80})
	data := make([]byte, 50<<10)
	_, _ = rand.Read(data)
	var wg sync.WaitGroup
	for i := range 200 {
		c := dial(t, f)
		wg.Go(func() {
			go func() {
				_, _ = c.Write(data[i:])
				_ = c.CloseWrite()
			}()
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, data[i:]) {
				t.Errorf("connection %d: %d of %d bytes, %v", i, len(got), len(data)-i, err)
			}
		})
	}
	wg.Wait()
	f.awaitIdle()
	if s := f.Status(); s.Total != 200 {
		t.Errorf("status %+v, want 200 in total", s)
	}
}

func TestStoppingEndsEverything(t *testing.T) {
	l, err := Opener{}.Listen("", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pods{tcp: true}
	t.Cleanup(p.wg.Wait)
	p.set("a", func(c net.Conn) {
		_, _ = io.WriteString(c, "x")
		_, _ = c.Read(make([]byte, 1))
	})
	f := New(l, p, Options{})
	stop := start(t, f)
	waiting := dial(t, f)
	f.SetTarget(&Target{"ns", "a", 80})
	open := dial(t, f)
	for _, c := range []net.Conn{waiting, open} {
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	f.SetTarget(nil)
	late := dial(t, f)
	stop()
	for _, c := range []net.Conn{waiting, open, late} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a connection ends with %v, want a reset", err)
		}
	}
	if _, err := net.Dial("tcp", f.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

func TestConnectionWaitsForAPod(t *testing.T) {
	inMemory(t, Options{}, func(t *testing.T, f *Forward, l *memoryListener, p *pods) {
		p.set("a", say("hello"))
		if s := f.Status(); s.State != StateWaiting {
			t.Errorf("state %s, want waiting", s.State)
		}
		c := l.dial()
		time.Sleep(9 * time.Second)
		f.SetTarget(&Target{"ns", "a", 80})
		if got, err := io.ReadAll(c); err != nil || string(got) != "hello" {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

func TestConnectionWithoutAPodIsClosed(t *testing.T) {
	inMemory(t, Options{Wait: 3 * time.Second}, func(t *testing.T, _ *Forward, l *memoryListener, _ *pods) {
		start := time.Now()
		_, err := l.dial().Read(make([]byte, 1))
		if err == nil || time.Since(start) != 3*time.Second {
			t.Errorf("closed with %v after %s, want an error after 3 s", err, time.Since(start))
		}
	})
}

// TestCause tells a cluster that cannot be reached from a pod where nothing listens.
func TestCause(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("open the tunnel: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}): "the cluster refuses connections: open the tunnel: dial tcp: connect: connection refused",
		errRefused:             "connection refused: nothing listens on port 80 of the pod",
		errors.New("no route"): "no route",
	} {
		if got := cause(err, Target{"ns", "web", 80}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPeerThatTakesNothingEndsTheConnection(t *testing.T) {
	inMemory(t, Options{WriteTimeout: 20 * time.Second}, func(t *testing.T, f *Forward, l *memoryListener, p *pods) {
		gone := make(chan struct{})
		p.set("stuck", func(net.Conn) { <-gone })
		f.SetTarget(&Target{"ns", "stuck", 80})
		c := l.dial()
		begin := time.Now()
		_, _ = c.Write([]byte("hello"))
		if _, err := c.Read(make([]byte, 1)); err == nil || time.Since(begin) != 20*time.Second {
			t.Errorf("ended with %v after %s, want 20 s", err, time.Since(begin))
		}
		close(gone)
	})
}

func TestIdleAndSlowConnectionsStay(t *testing.T) {
	inMemory(t, Options{WriteTimeout: 20 * time.Second}, func(t *testing.T, f *Forward, l *memoryListener, p *pods) {
		p.set("a", echo)
		f.SetTarget(&Target{"ns", "a", 80})
		c := l.dial()
		ping(t, c, "one")
		time.Sleep(24 * time.Hour)
		ping(t, c, "two")
		_, _ = c.Write([]byte("slow"))
		for range 4 {
			time.Sleep(15 * time.Second)
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		_ = c.Close()
		time.Sleep(61 * time.Second) // a pipe cannot be half-closed
		synctest.Wait()
		if s := f.Status(); s.Active != 0 || s.Total != 1 {
			t.Errorf("status %+v, want none active of one", s)
		}
	})
}

func TestClientThatKeepsADeadConnectionIsCutOff(t *testing.T) {
	f, p := overTCP(t, Options{HalfOpenTimeout: 10 * time.Millisecond})
	p.set("a", say("bye"))
	f.SetTarget(&Target{"ns", "a", 80})
	if _, err := io.ReadAll(dial(t, f)); err != nil {
		t.Fatal(err)
	}
	f.awaitIdle() // and the client does nothing
}

// hangingClose is a connection that breaks the contract of Dialer.
type hangingClose struct {
	net.Conn
	free chan struct{}
}

func (h hangingClose) Close() error { <-h.free; return h.Conn.Close() }

type hangingDialer struct {
	pods
	free chan struct{}
}

func (d *hangingDialer) DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	c, err := d.pods.DialPod(ctx, namespace, pod, port)
	return hangingClose{c, d.free}, err
}

func TestStoppingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &hangingDialer{free: make(chan struct{})}
		d.set("a", echo)
		l := newMemoryListener()
		f := New(l, d, Options{StopTimeout: 3 * time.Second})
		f.SetTarget(&Target{"ns", "a", 80})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		ping(t, l.dial(), "hello")
		cancel()
		begin := time.Now()
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "1 connections did not end within 3s") || time.Since(begin) != 3*time.Second {
			t.Errorf("Run returns %v after %s", err, time.Since(begin))
		}
		close(d.free)
		d.wg.Wait()
	})
}

func TestOnChangeGetsTheNewestStatus(t *testing.T) {
	statuses := make(chan Status, 100)
	inMemory(t, Options{OnChange: func(s Status) { statuses <- s }}, func(t *testing.T, f *Forward, l *memoryListener, p *pods) {
		p.set("a", echo)
		var got []Status
		step := func(do func()) {
			do()
			synctest.Wait()
			for len(statuses) > 1 {
				<-statuses
			}
			if len(statuses) == 1 {
				got = append(got, <-statuses)
			}
		}
		var c net.Conn
		step(func() {})
		step(func() { f.SetTarget(&Target{"ns", "a", 80}) })
		step(func() { f.SetTarget(&Target{"ns", "a", 80}) })
		step(func() { c = l.dial() })
		step(func() { _ = c.Close(); time.Sleep(61 * time.Second) })
		step(func() { f.SetTarget(nil) })
		a := &Target{"ns", "a", 80}
		want := []Status{
			{State: StateWaiting, Message: "waiting for a pod"},
			{State: StateReady, Target: a},
			{State: StateReady, Target: a, Active: 1, Total: 1},
			{State: StateReady, Target: a, Total: 1},
			{State: StateWaiting, Message: "waiting for a pod", Total: 1},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
	})
}

type brokenListener struct{ *memoryListener }

func (brokenListener) Accept() (net.Conn, error) { return nil, errors.New("broken") }

func TestListenerThatFailsForGoodEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(brokenListener{newMemoryListener()}, &pods{}, Options{})
		if err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("Run returns %v", err)
		}
	})
}
