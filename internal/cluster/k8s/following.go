package k8s

import (
	"net/http"
	"net/url"
	"strings"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// following is a transport that takes the current way into the cluster. A request that fails is sent again if the kubeconfig
// names another way.
type following struct {
	login *login
	// base is the address that the requests are made for.
	base *url.URL
	// dress makes the transport of a way.
	dress func(*rest.Config) (http.RoundTripper, error)

	mu   sync.Mutex
	by   *entry            // guarded by mu; the way of next
	next http.RoundTripper // guarded by mu
}

var _ utilnet.RoundTripperWrapper = (*following)(nil)

// clientFor returns an HTTP client that follows the login. Its requests are made for the address of the first way. It
// fails if that way cannot be used.
func (l *login) clientFor(dress func(*rest.Config) (http.RoundTripper, error)) (*http.Client, error) {
	base, _, err := rest.DefaultServerUrlFor(l.first)
	if err != nil {
		return nil, err
	}
	t := &following{login: l, base: base, dress: dress}
	if _, _, err := t.current(); err != nil {
		return nil, err
	}
	return &http.Client{Transport: PatientTransport(t)}, nil
}

// current returns the current way and its transport.
func (t *following) current() (*entry, http.RoundTripper, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.login.now.Load()
	if t.by == e {
		return e, t.next, nil
	}
	next, err := t.dress(rest.CopyConfig(e.config))
	if err != nil {
		return e, nil, err
	}
	if e.config.ExecProvider != nil {
		next = impatient{next}
	}
	if t.next != nil {
		utilnet.CloseIdleConnectionsFor(t.next)
	}
	t.by, t.next = e, next
	return e, next, nil
}

// WrappedRoundTripper returns the transport below, so that its connections can be closed.
func (t *following) WrappedRoundTripper() http.RoundTripper {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.next
}

// RoundTrip implements http.RoundTripper.
func (t *following) RoundTrip(req *http.Request) (*http.Response, error) {
	e, next, err := t.current()
	if err != nil {
		return nil, err
	}
	resp, err := next.RoundTrip(t.addressed(req, e))
	if !turnedAway(req, resp, err) {
		return resp, err
	}
	other, problem := t.login.renew(req.Context(), e)
	if other == nil && problem == nil {
		return resp, err
	}
	again, ok := repeated(req)
	if problem == nil && !ok {
		return resp, err
	}
	if resp != nil {
		resp.Body.Close()
	}
	if problem != nil {
		return nil, problem
	}
	if e, next, err = t.current(); err != nil {
		return nil, err
	}
	return next.RoundTrip(t.addressed(again, e))
}

// turnedAway reports whether the server did not let a request in (401, 403), or the request did not get through.
func turnedAway(req *http.Request, resp *http.Response, err error) bool {
	if err != nil {
		return req.Context().Err() == nil
	}
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// repeated returns a request like req that can be sent, if its body can be had once more.
func repeated(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again := req.Clone(req.Context())
	again.Body = body
	return again, true
}

// addressed returns a request with the address of a way. Where the address is the one that req is made for, it returns req.
func (t *following) addressed(req *http.Request, e *entry) *http.Request {
	to, _, err := rest.DefaultServerUrlFor(e.config)
	if err != nil || *to == *t.base {
		return req
	}
	moved := *req.URL
	moved.Scheme, moved.Host = to.Scheme, to.Host
	moved.Path = strings.TrimSuffix(to.Path, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(moved.Path, t.base.Path), "/")
	moved.RawPath = ""
	again := req.WithContext(req.Context()) // a copy
	again.URL, again.Host = &moved, ""
	return again
}
