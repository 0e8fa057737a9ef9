package k8s

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Request is one request that was sent to the API server, without its content.
type Request struct {
	// Verb is as in rules of RBAC, or "apply" for a server-side apply.
	Verb string
	// Object is the resource with the object's name, such as "deployments/web".
	Object, Namespace string
	// Status is the HTTP status; 0 if no answer came.
	Status int
	// Sent and Received are the bytes of the two bodies. The answer may be compressed.
	Sent, Received int64
	// Took is the time until the answer was read.
	Took time.Duration
}

// Requests counts the requests of the contexts that CountRequests has made for it. It is safe for use by several goroutines. The zero
// value is ready.
type Requests struct {
	// Tell, unless nil, is called with each request once its answer was read. Several goroutines may call it.
	Tell func(Request)

	mu    sync.Mutex
	verbs map[string]int // guarded by mu
}

type requestsKey struct{}

// CountRequests returns a context whose requests r counts, except for watches.
func CountRequests(ctx context.Context, r *Requests) context.Context {
	return context.WithValue(ctx, requestsKey{}, r)
}

// NoteRequest adds a request to the count of the context, if it has one. Clients of this package do so by themselves.
func NoteRequest(ctx context.Context, req Request) {
	r, _ := ctx.Value(requestsKey{}).(*Requests)
	if r == nil {
		return
	}
	r.mu.Lock()
	if r.verbs == nil {
		r.verbs = map[string]int{}
	}
	r.verbs[req.Verb]++
	r.mu.Unlock()
	if r.Tell != nil {
		r.Tell(req)
	}
}

// String returns the counts, such as "3 requests: create 1, list 2".
func (r *Requests) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, list := 0, []string(nil)
	for _, verb := range slices.Sorted(maps.Keys(r.verbs)) {
		all += r.verbs[verb]
		list = append(list, fmt.Sprintf("%s %d", verb, r.verbs[verb]))
	}
	switch all {
	case 0:
		return "no requests"
	case 1:
		return "1 request: " + list[0]
	}
	return fmt.Sprintf("%d requests: %s", all, strings.Join(list, ", "))
}

// CountingTransport returns a transport that counts the requests of such contexts. The clients of this package use it.
func CountingTransport(next http.RoundTripper) http.RoundTripper { return counting{next} }

// counting is the transport of CountingTransport.
type counting struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = counting{}

// WrappedRoundTripper returns the transport below, so that its connections can be closed.
func (c counting) WrappedRoundTripper() http.RoundTripper { return c.next }

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if r, _ := ctx.Value(requestsKey{}).(*Requests); r == nil || req.URL.Query().Get("watch") == "true" {
		return c.next.RoundTrip(req)
	}
	note, began := describe(req), time.Now()
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		note.Took = time.Since(began)
		NoteRequest(ctx, note)
		return nil, err
	}
	note.Status = resp.StatusCode
	body := &countedBody{ReadCloser: resp.Body}
	body.over = sync.OnceFunc(func() {
		note.Received, note.Took = body.read.Load(), time.Since(began)
		NoteRequest(ctx, note)
	})
	resp.Body = body
	return resp, nil
}

// countedBody calls over when the answer was read, or is closed.
type countedBody struct {
	io.ReadCloser
	read atomic.Int64
	over func()
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	if err != nil {
		b.over()
	}
	return n, err
}

// Close implements io.Closer.
func (b *countedBody) Close() error {
	defer b.over()
	return b.ReadCloser.Close()
}

// describe describes a request by its method and path:
//
//	/api/v1/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE
//	/apis/GROUP/VERSION/RESOURCE/NAME
func describe(req *http.Request) Request {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	r := Request{Sent: max(req.ContentLength, 0)}
	if at := slices.IndexFunc(parts, func(p string) bool { return p == "api" || p == "apis" }); at >= 0 { // a proxy may have a path of its own
		skip := map[string]int{"api": 2, "apis": 3}[parts[at]]
		parts = parts[min(at+skip, len(parts)):]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Object = strings.Join(parts, "/")
	named := len(parts) > 1
	switch req.Method {
	case http.MethodGet:
		r.Verb = verb(named, "get", "list")
	case http.MethodDelete:
		r.Verb = verb(named, "delete", "deletecollection")
	case http.MethodPost:
		r.Verb = "create"
	case http.MethodPut:
		r.Verb = "update"
	case http.MethodPatch:
		r.Verb = verb(strings.Contains(req.Header.Get("Content-Type"), "apply-patch"), "apply", "patch")
	default:
		r.Verb = strings.ToLower(req.Method)
	}
	return r
}

func verb(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}
