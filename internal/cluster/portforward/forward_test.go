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

// pods is a Dialer whose pods are functions that serve a connection. Over TCP its connections can be half-closed,
// otherwise not.
type pods struct {
	tcp bool

	mu    sync.Mutex
	serve map[string]func(net.Conn)
	dials []string
	wg    sync.WaitGroup
}

var errRefused = errors.New("connection refused in pod")

func (p *pods) set(pod string, serve func(net.Conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serve == nil {
		p.serve = map[string]func(net.Conn){}
	}
	p.serve[pod] = serve
}

func (p *pods) DialPod(_ context.Context, namespace, pod string, port int) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dials = append(p.dials, Target{namespace, pod, port}.String())
	serve := p.serve[pod]
	if serve == nil {
		return nil, errRefused
	}
	near, far, err := p.connect()
	if err != nil {
		return nil, err
	}
	p.wg.Go(func() {
		defer func() { _ = far.Close() }()
		serve(far)
	})
	return near, nil
}

func (p *pods) connect() (near, far net.Conn, err error) {
	if !p.tcp {
		near, far = net.Pipe()
		return near, far, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = l.Close() }()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	far, err = l.Accept()
	return near, far, err
}

func echo(c net.Conn) { _, _ = io.Copy(c, c) }

func say(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// memoryListener accepts the far ends of pipes.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memoryListener) Addr() net.Addr { return &net.TCPAddr{Port: 8080} }

func (l *memoryListener) dial() net.Conn {
	near, far := net.Pipe()
	l.conns <- far
	return near
}

// start runs a forward until the test ends, and returns the function that stops it earlier.
func start(t *testing.T, f *Forward) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// watched is a forward with status changes that a test can wait for.
type watched struct {
	*Forward
	changes chan struct{}
}

func (w watched) awaitIdle() {
	for w.Status().Active > 0 {
		<-w.changes
	}
}

// overTCP returns a running forward on a real listener, with its pods.
func overTCP(t *testing.T, o Options) (watched, *pods) {
	t.Helper()
	changes := make(chan struct{}, 1)
	o.OnChange = func(Status) {
		select {
		case changes <- struct{}{}:
		default:
		}
	}
	l, err := Opener{}.Listen("localhost", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pods{tcp: true}
	f := New(l, p, o)
	t.Cleanup(p.wg.Wait)
	start(t, f)
	return watched{f, changes}, p
}

func dial(t *testing.T, f interface{ Addr() net.Addr }) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

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

func ping(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("got %q, %v; want %q", got, err, text)
	}
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

// inMemory runs a test of timing, with pipes as connections.
func inMemory(t *testing.T, o Options, test func(t *testing.T, f *Forward, l *memoryListener, p *pods)) {
	synctest.Test(t, func(t *testing.T) {
		l, p := newMemoryListener(), &pods{}
		f := New(l, p, o)
		stop := start(t, f)
		test(t, f, l, p)
		stop()
		p.wg.Wait()
	})
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
