package k8stest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

type logKey struct {
	pod, container string // pod is "namespace/name"
	previous       bool
}

// logText is the log of one run of a container.
type logText struct {
	mu      sync.Mutex
	lines   []logLine
	ended   bool
	changed chan struct{} // closed and replaced at each change
}

type logLine struct {
	at   time.Time
	text string
}

func (f *Fake) log(key logKey) *logText {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.logs[key]
	if l == nil {
		l = &logText{changed: make(chan struct{})}
		f.logs[key] = l
	}
	return l
}

// AppendLog adds a line, without line break, to the log of the current run of a container.
func (f *Fake) AppendLog(namespace, pod, container string, at time.Time, text string) {
	f.log(logKey{namespace + "/" + pod, container, false}).update(func(l *logText) {
		l.lines = append(l.lines, logLine{at, text})
	})
}

// EndLog marks the current run of a container as ended: readers that follow get io.EOF.
func (f *Fake) EndLog(namespace, pod, container string) {
	f.log(logKey{namespace + "/" + pod, container, false}).update(func(l *logText) { l.ended = true })
}

// RestartLog makes the current log the previous one and begins a new one.
func (f *Fake) RestartLog(namespace, pod, container string) {
	f.EndLog(namespace, pod, container)
	key := logKey{namespace + "/" + pod, container, false}
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.logs[key]
	delete(f.logs, key)
	key.previous = true
	f.logs[key] = old
}

func (l *logText) update(fn func(*logText)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(l)
	close(l.changed)
	l.changed = make(chan struct{})
}

// Logs implements k8s.Interface.
func (f *Fake) Logs(ctx context.Context, req k8s.LogRequest) (io.ReadCloser, error) {
	if err := f.reach(ctx, req.Namespace, req.Pod); err != nil {
		return nil, fmt.Errorf("read log of pod %s/%s: %w", f.namespace(req.Namespace), req.Pod, err)
	}
	key := logKey{f.namespace(req.Namespace) + "/" + req.Pod, req.Container, req.Previous}
	if key.container == "" {
		if e, ok := f.pods.get(key.pod); ok && len(e.Pod.Containers) > 0 {
			key.container = e.Pod.Containers[0].Name
		}
	}
	return &logReader{ctx: ctx, log: f.log(key), req: req, closed: make(chan struct{})}, nil
}

type logReader struct {
	ctx    context.Context
	log    *logText
	req    k8s.LogRequest
	next   int
	rest   bytes.Buffer
	closed chan struct{}
	once   sync.Once
}

func (r *logReader) Read(p []byte) (int, error) {
	for r.rest.Len() == 0 {
		r.log.mu.Lock()
		for _, line := range r.log.lines[r.next:] {
			if !line.at.Before(r.req.Since) {
				fmt.Fprintf(&r.rest, "%s %s\n", line.at.UTC().Format(time.RFC3339Nano), line.text)
			}
		}
		r.next = len(r.log.lines)
		ended, changed := r.log.ended || !r.req.Follow, r.log.changed
		r.log.mu.Unlock()
		if r.rest.Len() > 0 {
			break
		}
		if ended {
			return 0, io.EOF
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		case <-r.closed:
			return 0, errors.New("read on closed log")
		}
	}
	return r.rest.Read(p)
}

func (r *logReader) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}

// OnDial sets the function that serves the connections of DialPod. Without it every port refuses.
func (f *Fake) OnDial(fn DialFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dial = fn
}

// DialPod implements k8s.Interface. The two ends are connected over loopback TCP, so that deadlines and half-closing
// work as on a real connection.
func (f *Fake) DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	if err := f.reach(ctx, namespace, pod); err != nil {
		return nil, fmt.Errorf("connect to pod %s/%s:%d: %w", f.namespace(namespace), pod, port, err)
	}
	f.mu.Lock()
	fn := f.dial
	f.mu.Unlock()
	var serve func(net.Conn)
	if fn != nil {
		serve = fn(pod, port)
	}
	if serve == nil {
		return refused{}, nil
	}
	near, far, err := loopback()
	if err != nil {
		return nil, fmt.Errorf("connect to pod %s/%s:%d: %w", f.namespace(namespace), pod, port, err)
	}
	gone := f.goneChan(f.namespace(namespace) + "/" + pod)
	done := make(chan struct{})
	f.wg.Go(func() {
		defer close(done)
		defer func() { _ = far.Close() }()
		serve(far)
	})
	f.wg.Go(func() {
		select {
		case <-gone:
			_ = far.Close()
		case <-f.closing:
			_ = far.Close()
			_ = near.Close()
		case <-done:
		}
	})
	return near, nil
}

// goneChan returns a channel that is closed when the pod ends.
func (f *Fake) goneChan(key string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone[key] == nil {
		f.gone[key] = make(chan struct{})
	}
	return f.gone[key]
}

func loopback() (near, far net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = l.Close() }()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if far, err = l.Accept(); err != nil {
		return nil, nil, errors.Join(err, near.Close())
	}
	return near, far, nil
}

// Echo is a DialFunc for pods that echo on every port.
func Echo(string, int) func(net.Conn) {
	return func(conn net.Conn) { _, _ = io.Copy(conn, conn) }
}

var errRefused = errors.New("connection refused")

// refused is a connection to a port on which nothing listens.
type refused struct{ net.Conn }

func (refused) Read([]byte) (int, error)          { return 0, errRefused }
func (refused) Write([]byte) (int, error)         { return 0, errRefused }
func (refused) Close() error                      { return nil }
func (refused) CloseWrite() error                 { return nil }
func (refused) SetDeadline(time.Time) error       { return nil }
func (refused) SetReadDeadline(t time.Time) error { return nil }
func (refused) SetWriteDeadline(time.Time) error  { return nil }
func (refused) LocalAddr() net.Addr               { return refusedAddr{} }
func (refused) RemoteAddr() net.Addr              { return refusedAddr{} }

type refusedAddr struct{}

func (refusedAddr) Network() string { return "pod" }
func (refusedAddr) String() string  { return "nowhere" }

// HasLine reports whether text, as read from a log, has a line that ends in want.
func HasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.HasSuffix(strings.TrimRight(line, "\n"), " "+want) {
			return true
		}
	}
	return false
}
