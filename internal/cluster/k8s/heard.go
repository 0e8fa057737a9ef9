package k8s

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// askIdle is the time that an HTTP/2 connection may be without a frame before the transport pings the other end. The server
	// answers pings below HTTP: a ping costs it nothing, and even an overloaded server answers.
	askIdle = 500 * time.Millisecond
	// brokenAfter bounds the wait for the answer to such a ping before the connection is given up.
	brokenAfter = 15 * time.Second
)

// heard records when something last arrived from the API server. Its methods may be called by any goroutine.
type heard struct {
	begin time.Time
	at    atomic.Int64 // since begin, in nanoseconds; the monotonic clock does not count while the machine sleeps
	pings atomic.Bool  // the last answer came over HTTP/2
	// lag is the last measured round-trip time, in nanoseconds; 0 before the first measurement.
	lag atomic.Int64
}

func newHeard() *heard { return &heard{begin: time.Now()} }

// clock returns the time since begin, in nanoseconds.
func (h *heard) clock() int64 { return int64(time.Since(h.begin)) }

// now notes that something has arrived, and returns when.
func (h *heard) now() int64 {
	now := h.clock()
	h.at.Store(now)
	return now
}

// listening is a transport that records which protocol the server speaks.
type listening struct {
	next  http.RoundTripper
	heard *heard
}

var _ utilnet.RoundTripperWrapper = listening{}

// listen returns a transport that records in h which protocol the server speaks, and makes the HTTP/2 connections below it
// ping.
func listen(next http.RoundTripper, h *heard) http.RoundTripper {
	for rt := next; rt != nil; {
		if t, ok := rt.(*http.Transport); ok {
			t.HTTP2 = &http.HTTP2Config{SendPingTimeout: askIdle, PingTimeout: brokenAfter}
			break
		}
		w, ok := rt.(utilnet.RoundTripperWrapper)
		if !ok {
			break
		}
		rt = w.WrappedRoundTripper()
	}
	return listening{next, h}
}

// WrappedRoundTripper returns the transport below, so that its connections can be closed.
func (l listening) WrappedRoundTripper() http.RoundTripper { return l.next }

// RoundTrip implements http.RoundTripper.
func (l listening) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err == nil {
		l.heard.pings.Store(resp.ProtoMajor == 2)
	}
	return resp, err
}

// Quiet returns the time for which nothing has arrived from the API server on any connection, less the time that an answer is under
// way. pinged is set if an open connection is pinged twice a second: then even a server that takes long to answer requests is quiet
// only briefly.
func (c *Client) Quiet() (d time.Duration, pinged bool) {
	h := c.conns.heard
	return time.Duration(max(0, h.clock()-h.at.Load()-h.lag.Load())), h.pings.Load()
}

// Stuck returns the time for which nothing has arrived on one of the pinged connections. The others may be fine, for example after
// a change of networks: then Quiet is short.
func (c *Client) Stuck() time.Duration {
	if !c.conns.heard.pings.Load() {
		return 0
	}
	return max(0, c.conns.stuck()-time.Duration(c.conns.heard.lag.Load()))
}

// Alive sends the cheapest request, and returns nil if the API server answers it in any way. A gateway's error is no answer.
func (c *Client) Alive(ctx context.Context) error {
	err := c.probe(AtOnce(ctx), "/version")
	if err == nil {
		return nil
	}
	answered := apierrors.ReasonForError(err) != ""
	if busy := AsBusy(err); busy != nil {
		answered = busy.Status == http.StatusTooManyRequests
	}
	if answered {
		return nil
	}
	return c.Explain(err)
}
