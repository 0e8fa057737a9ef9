package k8s

import (
	"net"
	"os"
	"sync"
	"time"
)

// queueLimit is the number of bytes that one direction of a pod connection holds before its writer has to wait. Bytes
// beyond it stay in the tunnel, where they also hold up the other connections of the pod.
const queueLimit = 1 << 20

// byteQueue is one direction of a connection: bounded, with an end that carries an error, and with deadlines on both
// sides. It is safe for any number of readers and writers.
type byteQueue struct {
	mu   sync.Mutex
	cond *sync.Cond // on mu; broadcast on every change
	// All below are guarded by mu.
	buf           []byte // buf[head:] is unread
	head          int
	end           error // returned to readers after the last byte; nil while open for writing
	gone          error // why the readers have left; nil while there may be some
	read, written deadline
}

func newByteQueue() *byteQueue {
	q := &byteQueue{}
	q.cond = sync.NewCond(&q.mu)
	return q
}

// deadline is a point in time that wakes the goroutines that wait for it.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) set(at time.Time, wake func()) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = at
	if !at.IsZero() {
		d.timer = time.AfterFunc(time.Until(at), wake)
	}
}

// setReadDeadline bounds reads; the zero time removes the bound.
func (q *byteQueue) setReadDeadline(t time.Time) { q.setDeadline(&q.read, t) }

// setWriteDeadline bounds writes; the zero time removes the bound.
func (q *byteQueue) setWriteDeadline(t time.Time) { q.setDeadline(&q.written, t) }

func (q *byteQueue) setDeadline(d *deadline, t time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	d.set(t, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.cond.Broadcast()
	})
	q.cond.Broadcast()
}

// Read returns the available bytes. It waits for at least one byte, the end, or the deadline.
func (q *byteQueue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.gone != nil:
			return 0, q.gone
		case q.read.passed():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case q.head < len(q.buf):
			n := copy(p, q.buf[q.head:])
			q.advance(n)
			return n, nil
		case q.end != nil:
			return 0, q.end
		}
		q.cond.Wait()
	}
}

// advance drops n bytes. When a burst has been drained it also frees the memory.
func (q *byteQueue) advance(n int) {
	q.head += n
	if q.head == len(q.buf) {
		q.head = 0
		q.buf = q.buf[:0]
		if cap(q.buf) > 64<<10 {
			q.buf = nil
		}
	}
	q.cond.Broadcast()
}

// Write adds p, waiting for room until the deadline. It fails when the queue has ended or its readers have left.
func (q *byteQueue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	written := 0
	for {
		switch {
		case q.gone != nil:
			return written, q.gone
		case q.end != nil:
			return written, net.ErrClosed
		case q.written.passed():
			return written, os.ErrDeadlineExceeded
		case len(p) == 0:
			return written, nil
		}
		if room := queueLimit - (len(q.buf) - q.head); room > 0 {
			n := min(room, len(p))
			q.append(p[:n])
			written += n
			p = p[n:]
			continue
		}
		q.cond.Wait()
	}
}

func (q *byteQueue) append(p []byte) {
	if q.head > 0 && len(q.buf)+len(p) > cap(q.buf) {
		q.buf = q.buf[:copy(q.buf, q.buf[q.head:])]
		q.head = 0
	}
	q.buf = append(q.buf, p...)
	q.cond.Broadcast()
}

// full reports whether a writer would have to wait.
func (q *byteQueue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.gone == nil && len(q.buf)-q.head >= queueLimit
}

// finish ends the queue: readers get err after the bytes that are still in it. The first error stays.
func (q *byteQueue) finish(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.end == nil {
		q.end = err
	}
	q.cond.Broadcast()
}

// abandon drops the contents. All later reads and writes fail with err. The first reason stays.
func (q *byteQueue) abandon(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone == nil {
		q.gone = err
	}
	q.buf, q.head = nil, 0
	q.cond.Broadcast()
}
