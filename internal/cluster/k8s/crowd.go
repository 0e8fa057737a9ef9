package k8s

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// A crowd of requests is as large as the API server can serve: the window. It is found as TCP finds the rate of a line, by the rules of
// Vegas (Brakmo and Peterson 1995), which look at time instead of losses. A request that takes longer than the shortest one has stood in
// line at the server for the difference, and so
//
//	standing = there × (1 − shortest/took)
//
// of the requests that are there, at the server or on the line, stand in line. While these are few, a larger window gets more done at the
// same time: far from the server, most requests are on their way. While they are many, it only lengthens the line. An answer 429 says that
// the server has refused to let a request stand in line; that halves the window. The request itself is sent again later, see Patiently.
//
// A request is on its way from the moment at which it is written until the first byte of its answer is there, as the connection sees them. On
// a machine that is busy, such as with a cluster of its own, hone's goroutines come to the request before and to the answer after that with
// some ten milliseconds' delay, which is not the server's: they took more than half of the window from 1,000 new Deployments.
const (
	// firstWindow is the window at the start, and the smallest one that times alone lead to: a server with slow admission webhooks, or
	// one whose first answer was exceptionally quick, still gets this much. TCP begins with the same number of packets (RFC 6928).
	firstWindow = 10
	// leastWindow is the smallest window that refusals lead to, and mostWindow the largest one: over a line of 100 ms, it still sends 600
	// requests a second.
	leastWindow, mostWindow = 1, 64
	// fewStand and manyStand are the numbers of requests in line below which the window grows, and above which it shrinks.
	fewStand, manyStand = 4, 10
	// crowdRest is the time without requests after which the figures no longer say anything.
	crowdRest = 30 * time.Second
)

// crowd is a transport that bounds the number of requests on their way. It is safe for concurrent use.
type crowd struct {
	next http.RoundTripper

	mu       sync.Mutex
	window   float64
	on       int             // requests that have a place in the window
	there    int             // those of them that have been written
	queue    []chan struct{} // requests that wait, in their order; each is closed when its request may go
	shortest map[string]time.Duration
	slow     bool      // since the window has shrunk once, it grows slowly
	halved   time.Time // when a refusal has last halved it
	last     time.Time // when the last request has ended
}

// newCrowd returns the transport.
func newCrowd(next http.RoundTripper) *crowd {
	return &crowd{next: next, window: firstWindow, shortest: map[string]time.Duration{}}
}

var _ utilnet.RoundTripperWrapper = (*crowd)(nil)

// WrappedRoundTripper returns the transport below, so that its connections can be closed.
func (c *crowd) WrappedRoundTripper() http.RoundTripper { return c.next }

// RoundTrip implements http.RoundTripper. It waits until the request may go. A stream without an end does not count.
func (c *crowd) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Query().Get("watch") == "true" {
		return c.next.RoundTrip(req)
	}
	if err := c.enter(req.Context()); err != nil {
		return nil, err
	}
	t := &trip{crowd: c, method: req.Method, sent: time.Now()}
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { t.written() }, GotFirstResponseByte: t.answered}
	resp, err := c.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	status := 0
	if err == nil {
		status = resp.StatusCode
	}
	t.end(status)
	return resp, err
}

// trip is one request that has its place in the window. The connection's goroutines report about it.
type trip struct {
	crowd  *crowd
	method string

	// These fields are guarded by crowd.mu.
	sent  time.Time     // when it was written, and before that when it got its place
	took  time.Duration // until the first byte of the answer
	full  bool          // the window was full then: otherwise the time says nothing about it
	there bool          // it counts in crowd.there
	all   int           // crowd.there when it was answered
	over  bool          // it has given its place back
}

// written notes that the request has left for the server.
func (t *trip) written() {
	c := t.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	t.sent = time.Now()
	if !t.there && !t.over {
		t.there = true
		c.there++
	}
}

// answered gives the place of the request to the next one. The first call counts.
func (t *trip) answered() {
	c := t.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	t.leave()
	c.admit()
}

// end takes the answer into account. Status is 0 if there was none.
func (t *trip) end(status int) {
	c := t.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	t.leave()
	switch {
	case status == http.StatusTooManyRequests:
		if t.sent.After(c.halved) { // one burst of refusals halves it once
			c.window, c.slow, c.halved = max(c.window/2, leastWindow), true, c.last
		}
	case status != 0 && t.method != http.MethodGet: // reads differ too much
		c.sized(t)
	}
	c.admit()
}

// leave gives the place back, once. crowd.mu is held.
func (t *trip) leave() {
	if t.over {
		return
	}
	c := t.crowd
	t.over, t.full = true, len(c.queue) > 0 || !c.free()
	c.on--
	if t.there {
		t.all = c.there
		c.there--
	}
	c.last = time.Now()
	t.took = c.last.Sub(t.sent)
}

// enter waits until a request may go.
func (c *crowd) enter(ctx context.Context) error {
	c.mu.Lock()
	if c.on == 0 && time.Since(c.last) > crowdRest {
		c.window, c.slow = firstWindow, false
		clear(c.shortest)
	}
	if c.free() && len(c.queue) == 0 {
		c.on++
		c.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	c.queue = append(c.queue, turn)
	c.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.queue {
		if other == turn {
			c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
			return context.Cause(ctx)
		}
	}
	c.on-- // its turn has come at the same moment
	c.admit()
	return context.Cause(ctx)
}

// free reports whether one more request may go. c.mu is held.
func (c *crowd) free() bool { return c.on < int(c.window) }

// admit lets the first of the waiting requests go. c.mu is held.
func (c *crowd) admit() {
	for c.free() && len(c.queue) > 0 {
		close(c.queue[0])
		c.queue = c.queue[1:]
		c.on++
	}
}

// sized adapts the window to the time that a write took. c.mu is held.
func (c *crowd) sized(t *trip) {
	if shortest, ok := c.shortest[t.method]; !ok || t.took < shortest {
		c.shortest[t.method] = t.took
	}
	standing := float64(t.all) * (1 - float64(c.shortest[t.method])/float64(max(t.took, 1)))
	switch {
	case standing > manyStand:
		c.slow = true
		c.window = max(c.window-1/c.window, min(c.window, firstWindow))
	case !t.full || standing >= fewStand:
	case c.slow:
		c.window = min(c.window+1/c.window, mostWindow)
	default: // it doubles with each round of answers
		c.window = min(c.window+1, mostWindow)
	}
}
