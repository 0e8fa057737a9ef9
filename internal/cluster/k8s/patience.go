package k8s

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/hone-dev/hone/internal/base/retry"
)

const (
	// maxTries bounds the attempts to send one request, refusedTries those that the server has refused because others came first, and
	// patienceLimit the total time that the request waits between the attempts.
	maxTries      = 6
	refusedTries  = int(patienceLimit / firstPause) // as many as fit
	patienceLimit = 30 * time.Second
	// firstPause is the wait after the first try; each further one is twice as long, unless the server only refuses. A longer Retry-After
	// wins.
	firstPause = 500 * time.Millisecond
	// maxMessage bounds the bytes of the server's explanation that are read.
	maxMessage = 4 << 10
)

// Busy is the answer of an API server, or of a proxy in front of it, that cannot serve a request now although the
// request may be valid: 429 and 5xx.
type Busy struct {
	Status int
	// Message is the server's message in addition to the status; it may be empty.
	Message string
	// RetryAfter is the time that the server asks clients to wait; zero where it does not specify it.
	RetryAfter time.Duration
}

// Error returns the server's status and message.
func (b *Busy) Error() string {
	s := fmt.Sprintf("the API server answers %d %s", b.Status, http.StatusText(b.Status))
	if b.Message != "" {
		s += " (" + b.Message + ")"
	}
	return s
}

var _ error = (*Busy)(nil)

// AsBusy returns the Busy in err, whether err comes from a patient request or from any other. It returns nil for other
// errors.
func AsBusy(err error) *Busy {
	var busy *Busy
	if errors.As(err, &busy) {
		return busy
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !passing(int(status.Status().Code)) || unreadable(status.Status().Message) {
		return nil
	}
	s := status.Status()
	busy = &Busy{Status: int(s.Code), Message: s.Message}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		busy.RetryAfter = time.Duration(seconds) * time.Second
	}
	return busy
}

// passing reports whether a status is temporary.
func passing(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

// unreadable reports whether the API server says that it cannot read an object, such as one with a field that its kind does not
// have. In server-side apply, it always answers that with status 500.
func unreadable(message string) bool {
	return strings.Contains(message, "failed to create typed patch object")
}

// IsCutOff reports whether a request may have failed only because the connection broke or the server is starting.
func IsCutOff(err error) bool {
	return slices.ContainsFunc(cutOff, func(is func(error) bool) bool { return is(err) })
}

// cutOff are the ways in which a connection breaks.
var cutOff = []func(error) bool{
	utilnet.IsConnectionRefused, utilnet.IsConnectionReset, utilnet.IsProbableEOF, utilnet.IsHTTP2ConnectionLost,
	func(err error) bool { return errors.Is(err, io.EOF) },
	func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) },
	func(err error) bool { return errors.As(err, new(http2.StreamError)) }, // it ends one request of a connection
	func(err error) bool {
		var op *net.OpError
		return errors.As(err, &op) && op.Op == "dial"
	},
}

// BrokeOff reports whether a connection to the server was made, and broke before the answer was complete.
func BrokeOff(err error) bool {
	var op *net.OpError
	unmade := errors.As(err, &op) && op.Op == "dial"
	return IsCutOff(err) && !unmade
}

// Wait is a pause before a request is retried.
type Wait struct {
	// Why is the error of the last try. It is empty when the wait is over.
	Why string
	For time.Duration
	// Try is the number of the next try, Of the largest number of tries.
	Try, Of int
}

// String returns a message for users: "the API server answers 503 Service Unavailable: trying again in 2s (3 of 6)".
func (w Wait) String() string {
	return fmt.Sprintf("%s: trying again in %s (%d of %d)", w.Why, w.For.Round(100*time.Millisecond), w.Try, w.Of)
}

// Patiently returns a context whose requests are retried when the API server answers 429 or 5xx or the connection
// breaks. There are at most maxTries tries, more for answers 429, and half a minute of waiting per request. A connection that breaks in the
// middle of an answer also counts, except for a POST, whose object exists already. Retries honour Retry-After. A
// request whose context would end during the wait does not wait. Once one request of the context has failed finally,
// its other requests no longer wait. The final error is a *Busy or the connection's error.
//
// Tell is called at the beginning and at the end of a wait; requests that wait at the same time share one wait. It must
// not block, and several goroutines may call it. It may be nil.
func Patiently(ctx context.Context, tell func(Wait)) context.Context {
	if tell == nil {
		tell = func(Wait) {}
	}
	return context.WithValue(ctx, patienceKey{}, &patience{tell: tell, tries: maxTries})
}

// AtOnce returns a context whose requests are never retried. Without it client-go retries for a minute or more when the
// server sends Retry-After. The error is a *Busy.
func AtOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patience{tell: func(Wait) {}, tries: 1})
}

type patienceKey struct{}

func patienceOf(ctx context.Context) *patience {
	p, _ := ctx.Value(patienceKey{}).(*patience)
	return p
}

// patience is the retry state that all requests of a context share. It is safe for use by several goroutines.
type patience struct {
	tell  func(Wait)
	tries int

	mu     sync.Mutex
	gaveUp bool      // guarded by mu
	told   time.Time // guarded by mu; the end of the last reported wait
}

// pause waits before the next try of a request. tried is the number of tries so far, waited the time that the request
// has waited. pause immediately returns false if the request should not be retried.
func (p *patience) pause(ctx context.Context, why error, tried int, waited *time.Duration) bool {
	wait, tries := firstPause<<(tried-1), p.tries
	busy := AsBusy(why)
	if busy != nil && busy.Status == http.StatusTooManyRequests && tries > 1 {
		wait, tries = firstPause, refusedTries
	}
	if busy != nil {
		wait = max(wait, busy.RetryAfter)
	}
	spent := tried >= tries || *waited+wait > patienceLimit
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) <= wait {
		spent = true
	}
	p.mu.Lock()
	if p.gaveUp = p.gaveUp || spent; p.gaveUp {
		p.mu.Unlock()
		return false
	}
	now := time.Now()
	tells := !now.Before(p.told)
	if tells {
		p.told = now.Add(wait)
	}
	p.mu.Unlock()
	if tells {
		p.tell(Wait{Why: why.Error(), For: wait, Try: tried + 1, Of: tries})
		defer p.tell(Wait{})
	}
	*waited += wait
	return retry.Sleep(ctx, wait)
}

// Persist calls f, and calls it again under the rules of Patiently while its error is temporary. It is for calls that
// do not take a context.
func Persist(ctx context.Context, f func() error) error {
	p := patienceOf(ctx)
	var waited time.Duration
	for tried := 1; ; tried++ {
		err := f()
		if err == nil || p == nil || ctx.Err() != nil {
			return err
		}
		busy := AsBusy(err)
		switch {
		case busy != nil:
			if !p.pause(ctx, busy, tried, &waited) {
				return err
			}
		case !IsCutOff(err) || !p.pause(ctx, err, tried, &waited):
			return err
		}
	}
}

// PatientTransport returns a transport that implements Patiently. The clients of this package already use it.
func PatientTransport(next http.RoundTripper) http.RoundTripper { return patient{next} }

// patient is the transport of PatientTransport.
type patient struct{ next http.RoundTripper }

var _ utilnet.RoundTripperWrapper = patient{}

// WrappedRoundTripper returns the transport below, so that its connections can be closed.
func (p patient) WrappedRoundTripper() http.RoundTripper { return p.next }

// sendsOnce reports whether a request has a body that cannot be read again.
func sendsOnce(req *http.Request) bool {
	return req.Body != nil && req.Body != http.NoBody && req.GetBody == nil
}

// RoundTrip implements http.RoundTripper.
func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	patience := patienceOf(req.Context())
	if patience == nil || sendsOnce(req) {
		return p.next.RoundTrip(req)
	}
	ctx := req.Context()
	var waited time.Duration
	for tried := 1; ; tried++ {
		resp, err := p.next.RoundTrip(req)
		switch {
		case err == nil && passing(resp.StatusCode):
			err = busyFrom(resp)
		case err == nil && req.Method != http.MethodPost && !streams(req, resp):
			err = readAhead(resp)
		}
		switch {
		case err == nil:
			return resp, nil
		case AsBusy(err) == nil && !IsCutOff(err):
			return nil, err
		}
		if ctx.Err() != nil || !patience.pause(ctx, err, tried, &waited) {
			return nil, err
		}
		if req = req.Clone(ctx); req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// streams reports whether an answer is a stream of unlimited duration.
func streams(req *http.Request, resp *http.Response) bool {
	q := req.URL.Query()
	return resp.StatusCode == http.StatusSwitchingProtocols || q.Get("watch") == "true" || q.Get("follow") == "true"
}

// readAhead reads the whole body of resp into memory, so that a broken answer is noticed while the request can still be
// sent again.
func readAhead(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// busyFrom turns an answer into a *Busy, and closes its body. An answer that no other try would change stays as it is, and the
// error is nil.
func busyFrom(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	if unreadable(string(body)) {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return nil
	}
	defer resp.Body.Close()
	busy := &Busy{Status: resp.StatusCode, Message: message(body)}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		busy.RetryAfter = time.Duration(seconds) * time.Second
	}
	return busy
}

// message returns the human-readable part of an answer: the message of a Status, else the first line of a text.
func message(body []byte) string {
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil {
		return status.Message
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(body), []byte("\n"))
	text := string(line)
	for _, machine := range []string{"<", "{", "k8s\x00"} { // an HTML page, or a truncated Status
		if strings.HasPrefix(text, machine) {
			return ""
		}
	}
	return strings.ToValidUTF8(text, "")
}
