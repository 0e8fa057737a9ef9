// Package request sends the HTTP requests of storages: bounded in time and size, and repeated only where a repetition changes nothing.
package request

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
)

const (
	// timeout bounds one attempt, with the body of its answer.
	timeout = time.Minute
	// attempts are how often a request is sent at most.
	attempts = 4
	// maxBody bounds an answer. No document comes near it.
	maxBody = 64 << 20
)

// Client sends requests.
type Client struct{ http *http.Client }

// New returns a client with the proxies and the TLS settings of Go programs. It opens no connection yet.
func New() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // a server that compresses makes strong ETags weak
	return &Client{&http.Client{Transport: transport, CheckRedirect: redirect}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// redirect follows at most ten redirects. It never passes credentials to another host, and never lets a write become a read.
func redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if req.Method != first.Method {
		return fmt.Errorf("the server redirects %s to %s in a way that loses the data: use the new address", first.Method, req.URL.Redacted())
	}
	if len(via) >= 10 {
		return errors.New("the server redirects in a circle")
	}
	if req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme {
		req.Header.Del("Authorization")
	}
	return nil
}

// Request is a request that can be sent several times.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	// Prepare adds to each attempt, such as a signature. It may be nil.
	Prepare func(*http.Request) error
}

// Answer is the whole answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Repeated is set if the server may have carried out an earlier attempt of the same request, whose answer was lost.
	Repeated bool
}

// Do sends a request. A read is repeated after every failure that may pass. A write is repeated only if the server did not get it, or
// says that it is too busy.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	pause := retry.Backoff{First: time.Second / 10, Most: time.Second, Jitter: 0.5}
	repeated := false
	for attempt := 1; ; attempt++ {
		answer, err := c.once(ctx, r)
		if attempt == attempts || !r.repeatable(answer.Status, err) || !pause.Sleep(ctx) {
			answer.Repeated = repeated
			return answer, err
		}
		repeated = repeated || answer.Status == http.StatusServiceUnavailable
	}
}

func (c *Client) once(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, err
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if r.Prepare != nil {
		if err := r.Prepare(req); err != nil {
			return Answer{}, err
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, withCause(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return Answer{}, withCause(ctx, fmt.Errorf("%s %s: %w", r.Method, req.URL.Redacted(), err))
	}
	if len(body) > maxBody {
		return Answer{}, fmt.Errorf("%s %s: the answer is larger than %d MB", r.Method, req.URL.Redacted(), maxBody>>20)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// withCause adds the reason why a context ended an attempt.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// repeatable reports whether an attempt may be repeated.
func (r Request) repeatable(status int, err error) bool {
	switch {
	case err != nil:
		return r.reads() || notSent(err)
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return true
	}
	return r.reads() && status >= http.StatusInternalServerError
}

func (r Request) reads() bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// notSent reports whether no byte of the request has left, since there was no connection.
func notSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
