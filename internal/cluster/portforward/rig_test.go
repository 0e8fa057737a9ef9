package portforward

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
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
