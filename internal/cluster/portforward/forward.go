package portforward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/ptr"

	"github.com/hone-dev/hone/internal/base/retry"
)

// Dialer opens connections to pods.
type Dialer interface {
	// DialPod connects to a port of a pod. It fails when ctx is done. The connection must honour deadlines. Its Close
	// must return promptly even if the other side no longer answers. If it has a CloseWrite method, that must end only
	// the stream to the pod. If nothing listens on the port, the error may also come later: from the first Read, with
	// "connection refused" in its text. If the program resets the connection, the text has "the program reset the connection".
	DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error)
}

// Target is the destination of connections.
type Target struct {
	Namespace string
	Pod       string
	Port      int
}

// String returns "namespace/pod:port".
func (t Target) String() string { return fmt.Sprintf("%s/%s:%d", t.Namespace, t.Pod, t.Port) }

// State summarises the state of a forward for users.
type State string

// The states.
const (
	StateWaiting State = "waiting" // there is no pod
	StateReady   State = "ready"   // there is a pod, and the last attempt did not fail
	StateError   State = "error"   // the last attempt to connect to the pod failed
)

// Status is the state of a forward in detail.
type Status struct {
	State State
	// Message describes the error, or the event that the forward waits for; empty when ready. Cause is the error alone,
	// without the target.
	Message string
	Cause   string
	// Answered reports whether the target has answered since it became the target, and since the last failure.
	Answered bool
	// Target is the destination of new connections; nil when there is no pod.
	Target *Target
	// Active is the number of connections that are now open to a pod, Total the number of all connections so far.
	Active int
	Total  int
}

// Options tune a forward. The zero value selects the defaults.
type Options struct {
	// Wait bounds the wait of a connection for a pod that accepts it; 0 means 10 s.
	Wait time.Duration
	// DialTimeout bounds each attempt to reach the pod; 0 means 5 s.
	DialTimeout time.Duration
	// WriteTimeout ends a connection when one side has accepted no data for this time; 0 means 2 min. Idle connections
	// have no limit.
	WriteTimeout time.Duration
	// HalfOpenTimeout ends a connection when one side has ended and the other has sent nothing for this time; 0 means 1
	// min. It does not apply to a pod that received the end of the client's data, because its answer may take longer.
	HalfOpenTimeout time.Duration
	// StopTimeout bounds the time that Run waits for its connections when it stops; 0 means 5 s.
	StopTimeout time.Duration
	// Leaving, if not nil, reports whether a pod is being deleted or is gone. Such a pod may have been stopped in the
	// middle of its answer, so its clients see a failure instead of a normal end.
	Leaving func(Target) bool
	// OnChange is called when Run starts and after each change of the status, by one goroutine of Run. It gets the
	// newest status and may miss intermediate ones.
	OnChange func(Status)
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&o.Wait, 10 * time.Second}, {&o.DialTimeout, 5 * time.Second}, {&o.WriteTimeout, 2 * time.Minute},
		{&o.HalfOpenTimeout, time.Minute}, {&o.StopTimeout, 5 * time.Second},
	} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	return o
}

// Forward carries the connections of one listener to the current target.
type Forward struct {
	l net.Listener
	d Dialer
	o Options

	changed chan struct{} // one slot: the status has changed

	mu       sync.Mutex
	target   *Target
	retarget chan struct{} // closed and replaced when target changes
	failure  error         // of the last attempt to reach the target
	answered bool          // the last attempt reached the target
	active   int
	total    int
	pairs    map[*pair]struct{}
	stopped  bool
}

// New returns a forward without a target. It owns the listener; Run closes it.
func New(l net.Listener, d Dialer, o Options) *Forward {
	f := &Forward{
		l: l, d: d, o: o.withDefaults(),
		changed: make(chan struct{}, 1), retarget: make(chan struct{}), pairs: map[*pair]struct{}{},
	}
	f.notify()
	return f
}

// Addr returns the address that the forward listens on.
func (f *Forward) Addr() net.Addr { return f.l.Addr() }

// SetTarget changes the target of new connections; nil means that there is no pod. Open connections stay with their
// pod. It may be called at any time, also before and after Run.
func (f *Forward) SetTarget(t *Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ptr.Equal(t, f.target) {
		return
	}
	f.target = nil
	if t != nil {
		clone := *t
		f.target = &clone
	}
	f.failure, f.answered = nil, false
	close(f.retarget)
	f.retarget = make(chan struct{})
	f.notify()
}

// Status returns the current status of the forward.
func (f *Forward) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Status{State: StateReady, Active: f.active, Total: f.total, Answered: f.answered}
	if f.target != nil {
		clone := *f.target
		s.Target = &clone
	}
	switch {
	case f.target == nil:
		s.State, s.Message = StateWaiting, "waiting for a pod"
	case f.failure != nil:
		s.State, s.Cause = StateError, cause(f.failure, *f.target)
		s.Message = fmt.Sprintf("cannot reach %s: %s", *f.target, s.Cause)
	}
	return s
}

// cause returns why a target cannot be reached, without the target's name.
func cause(err error, t Target) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED): // the pod's side reports a text
		return "the cluster refuses connections: " + err.Error()
	case refused(err):
		return fmt.Sprintf("connection refused: nothing listens on port %d of the pod", t.Port)
	}
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("connection to pod %s: ", t))
}

// notify wakes the reporter; it may be called with or without the mutex.
func (f *Forward) notify() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// Run accepts and carries connections until ctx is done or the listener fails permanently. It returns an error if the
// listener fails or connections do not end in time. It closes the listener and every connection, and may be called
// once.
func (f *Forward) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var reporter, carriers sync.WaitGroup
	reporter.Go(func() { f.report(ctx) })
	stop := context.AfterFunc(ctx, func() { _ = f.l.Close() })
	err := f.accept(ctx, &carriers)
	if stop() {
		_ = f.l.Close()
	}
	if ctx.Err() != nil {
		err = nil
	}
	cancel()
	f.breakPairs(&carriers)
	if left := f.await(&carriers); left > 0 {
		err = errors.Join(err, fmt.Errorf("port-forward %s: %d connections did not end within %s", f.l.Addr(), left, f.o.StopTimeout))
	}
	reporter.Wait()
	return err
}

// acceptTries is the number of failures in a row after which the listener is given up.
const acceptTries = 20

// accept starts a carrier for each connection.
func (f *Forward) accept(ctx context.Context, carriers *sync.WaitGroup) error {
	pauses := retry.Backoff{First: 5 * time.Millisecond, Most: time.Second}
	for tries := 1; ; tries++ {
		conn, err := f.l.Accept()
		if err == nil {
			tries = 0
			pauses.Reset()
			carriers.Go(func() { f.carry(ctx, conn) })
			continue
		}
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) || tries == acceptTries {
			return fmt.Errorf("accept on %s: %w", f.l.Addr(), err)
		}
		// Out of descriptors, or the client has gone before it was accepted: both are temporary.
		if !pauses.Sleep(ctx) {
			return err
		}
	}
}

// report calls OnChange until ctx is done.
func (f *Forward) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.changed:
			if f.o.OnChange != nil {
				f.o.OnChange(f.Status())
			}
		}
	}
}

// breakPairs ends all connections, including those that are added later. Each is ended in its own goroutine, so that a
// hanging one does not hold up the others.
func (f *Forward) breakPairs(carriers *sync.WaitGroup) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for p := range f.pairs {
		carriers.Go(p.fail)
	}
}

// await waits for the carriers. If they take too long it returns the number of connections that are left.
func (f *Forward) await(carriers *sync.WaitGroup) int {
	done := make(chan struct{})
	go func() {
		carriers.Wait()
		close(done)
	}()
	timer := time.NewTimer(f.o.StopTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return 0
	case <-timer.C:
		f.mu.Lock()
		defer f.mu.Unlock()
		return max(1, f.active)
	}
}

// add registers a connection, so that stopping ends it. It returns false if the forward has been stopped.
func (f *Forward) add(p *pair) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return false
	}
	f.pairs[p] = struct{}{}
	f.active++
	f.total++
	f.notify()
	return true
}

func (f *Forward) remove(p *pair) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pairs, p)
	f.active--
	f.notify()
}
