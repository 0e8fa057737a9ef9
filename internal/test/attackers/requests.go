package attackers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// refusal describes requests that must be refused, and the status code.
type refusal struct {
	name, host string
	header     map[string]string
	code       int
}

// refusals returns requests of programs and pages that are not the owner's.
func (s Target) refusals() []refusal {
	with := func(more ...string) map[string]string {
		h := map[string]string{"Authorization": "Bearer " + s.Token, "Content-Type": "application/json"}
		for pair := range slices.Chunk(more, 2) {
			if h[pair[0]] = pair[1]; pair[1] == "" {
				delete(h, pair[0])
			}
		}
		return h
	}
	return []refusal{
		{"no token", "", with("Authorization", ""), 401},
		{"a wrong token", "", with("Authorization", "Bearer wrong"), 401},
		{"a longer token", "", with("Authorization", "Bearer "+s.Token+"x"), 401},
		{"a shorter token", "", with("Authorization", "Bearer "+s.Token[:5]), 401},
		{"an empty token", "", with("Authorization", "Bearer "), 401},
		{"another scheme", "", with("Authorization", "Basic "+s.Token), 401},
		{"a wrong cookie", "", with("Authorization", "", "Cookie", "hone-session-1="+s.Token), 401},
		{"DNS rebinding", "evil.example:10350", with(), 403},
		{"DNS rebinding to a name like ours", "localhost.evil.example", with(), 403},
		{"a foreign page", "", with("Origin", "https://evil.example"), 403},
		{"a page on another port", "", with("Origin", "http://127.0.0.1:3000"), 403},
		{"a page of a file", "", with("Origin", "null"), 403},
		{"a page over another scheme", "", with("Origin", "https://"+s.Address), 403},
		{"a picture on a foreign page", "", with("Sec-Fetch-Site", "cross-site"), 403},
		{"a picture on a page of this machine", "", with("Sec-Fetch-Site", "same-site"), 403},
	}
}

// wanted are the requests of strangers: everything that shows or changes the session.
var wanted = []struct{ method, path string }{
	{"GET", "/api/view"}, {"GET", "/api/logs"}, {"GET", "/api/dump/engine"}, {"GET", "/api/dump/logstore"}, {"GET", "/api/snapshot"},
	{"POST", "/api/trigger"}, {"POST", "/api/click"}, {"POST", "/api/stop"}, {"GET", "/api/snapshot/follow"}, {"POST", "/api/screen"}, {"GET", "/api/object"}, {"GET", "/api/previous"},
	{"GET", "/apis"}, {"GET", "/apis/hone.dev/v1alpha1/sessions"}, {"GET", "/apis/hone.dev/v1alpha1/sessions?watch=true"},
	{"GET", "/apis/tilt.dev/v1alpha1/uiresources"}, {"PATCH", "/apis/tilt.dev/v1alpha1/configmaps/x-disable"},
	{"GET", "/openapi/v2"}, {"GET", "/openapi/v3"}, {"GET", "/version"}, {"GET", "/"}, {"GET", "/readyz"}, {"OPTIONS", "/api/view"},
	{"PUT", "/apis/hone.dev/v1alpha1/sessions/session"}, {"HEAD", "/api/view"}, {"TRACE", "/api/view"}, {"PROPFIND", "/"},
}

// Strangers sends all kinds of requests that are not the owner's: no answer may show anything of the session.
func Strangers(ctx context.Context, s Target) error {
	c := s.client()
	var errs []error
	for _, stranger := range s.refusals() {
		for _, w := range wanted {
			err := s.stranger(ctx, c, stranger, w.method, w.path)
			if ctx.Err() != nil { // the request was cut short
				return errors.Join(errs...)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %s %s: %w", stranger.name, w.method, w.path, err))
			}
		}
	}
	return errors.Join(errs...)
}

// client returns a client that uses a connection for each request and follows no redirects.
func (s Target) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: answerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (s Target) stranger(ctx context.Context, c *http.Client, as refusal, method, path string) error {
	var body io.Reader
	if method == "POST" || method == "PUT" || method == "PATCH" {
		body = strings.NewReader("{}")
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.Address+path, body)
	if err != nil {
		return err
	}
	for k, v := range as.header {
		r.Header.Set(k, v)
	}
	r.Host = as.host
	resp, err := c.Do(r)
	if err != nil {
		return unanswered(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return unanswered(err)
	}
	if resp.StatusCode != as.code && (method != "TRACE" || resp.StatusCode != http.StatusMethodNotAllowed) || strings.Contains(string(answer), s.Secret) {
		return fmt.Errorf("%d instead of %d: %.300q", resp.StatusCode, as.code, answer)
	}
	if h := resp.Header.Get("Access-Control-Allow-Origin"); h != "" {
		return fmt.Errorf("may be read by %s", h)
	}
	return nil
}

// PathTricks requests paths that different programs interpret differently. They are sent unchanged: Go's client would
// clean them.
func PathTricks(ctx context.Context, s Target) error {
	long := "/" + strings.Repeat("a/", 100<<10)
	var errs []error
	for _, path := range []string{"//api/view", "/api//view", "/x/../api/view", "/api/./view", "/api/%2e%2e/api/view", "/api%2fview", "/api/view%00", "/api\\view",
		"/..", "/api/view/..", "/%2e", "/apis/hone.dev/v1alpha1/sessions%2fsession", "/apis/hone.dev//v1alpha1/sessions", "/%252e%252e/api/view",
		"http://evil.example/api/view", "*", "api/view", "/apis/../api/view?x=1", "/API/VIEW", "/api/view/", long} {
		for _, token := range []string{s.Token, "wrong"} {
			errs = append(errs, s.request(ctx, fmt.Sprintf("%.60s", path),
				"GET "+path+" HTTP/1.1\r\nHost: "+s.Address+"\r\nAuthorization: Bearer "+token+"\r\nConnection: close\r\n\r\n"))
		}
	}
	return errors.Join(errs...)
}

// Malformed sends authenticated requests that are not valid HTTP, or that a session does not accept.
func Malformed(ctx context.Context, s Target) error {
	auth := "Connection: close\r\n" + s.owner()
	post := "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + auth
	var errs []error
	for _, tc := range []struct{ name, request string }{
		{"no HTTP", "hello\r\n\r\n"},
		{"a header flood", "GET /api/view HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Filler: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "\r\n"},
		{"many headers", "GET /api/view HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("A: b\r\n", 100000) + "\r\n"},
		{"no host", "GET /api/view HTTP/1.1\r\n" + auth + "\r\n"},
		{"two hosts", "GET /api/view HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n" + auth + "\r\n"},
		{"smuggling", "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n" + auth + "\r\n0\r\n\r\n"},
		{"a length below zero", "POST /api/trigger HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n" + auth + "\r\n"},
		{"reading with a body", "GET /api/view HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n" + auth + "\r\nabc"},
		{"a proxy", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n" + auth + "\r\n"},
		{"malformed JSON", post + "Content-Length: 1\r\n\r\n{"},
		{"JSON that is deep", post + "Content-Length: 200000\r\n\r\n" + strings.Repeat("[", 200000)},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{"broken TLS", "\x16\x03\x01\x00\x05hello"},
		{"a length that lies", post + "Content-Length: 99999999999\r\n\r\n{}"},
		{"a write to a table", "DELETE /apis/hone.dev/v1alpha1/sessions/session HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n"},
		{"an unknown method", "HACK /api/view HTTP/1.1\r\nHost: localhost\r\n" + auth + "\r\n"},
	} {
		errs = append(errs, s.request(ctx, tc.name, tc.request))
	}
	return errors.Join(errs...)
}

// Patches sends authenticated invalid patches to an object that accepts patches, to one that does not, and to one that
// does not exist.
func Patches(ctx context.Context, s Target) error {
	const tilt = "/apis/tilt.dev/v1alpha1/"
	var errs []error
	for _, path := range []string{tilt + "configmaps/" + s.Resource + "-disable", tilt + "uiresources/" + s.Resource, tilt + "configmaps/nothing-disable",
		"/apis/hone.dev/v1alpha1/sessions/session"} {
		for _, tc := range []struct{ media, patch string }{
			{"application/merge-patch+json", ``},
			{"application/merge-patch+json", `{`},
			{"application/merge-patch+json", `[]`},
			{"application/merge-patch+json", `{"metadata":{"name":{"$ref":"#"}}}`},
			{"application/merge-patch+json", `{"metadata":7}`},
			{"application/merge-patch+json", `{"metadata":{"name":"another"}}`},
			{"application/merge-patch+json", `{"data":` + strings.Repeat(`{"a":`, 100000)},
			{"application/merge-patch+json", `{"data":{"isDisabled":"` + strings.Repeat("x", 500000)},
			{"application/json-patch+json", `{}`},
			{"application/json-patch+json", `[{"op":"hack","path":"/data"}]`},
			{"application/json-patch+json", `[{"op":"replace","path":"/data/nowhere/at/all","value":1}]`},
			{"application/json-patch+json", `[{"op":"copy","from":"","path":"/data/x"}` + strings.Repeat(`,{"op":"copy","from":"/data","path":"/data/x"}`, 20000) + `]`},
			{"application/strategic-merge-patch+json", `{"$patch":"hack"}`},
			{"application/apply-patch+yaml", "&a [*a, *a]"},
			{"text/plain", "hello"},
		} {
			errs = append(errs, s.request(ctx, fmt.Sprintf("%s to %s: %.60s", tc.media, path, tc.patch), fmt.Sprintf(
				"PATCH %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s",
				path, tc.media, len(tc.patch), s.owner(), tc.patch)))
		}
	}
	return errors.Join(errs...)
}

const (
	endless = 1 << 30
	// taken is the number of bytes of an endless body that may be read before it is refused, including the machine's buffers for a
	// connection.
	taken = 64 << 20
)

// EndlessBodies sends authenticated requests with bodies of 1 GB, with and without a length, to every path that accepts
// one.
func EndlessBodies(ctx context.Context, s Target) error {
	c := s.client()
	var errs []error
	for _, w := range []struct{ method, path string }{{"POST", "/api/trigger"}, {"POST", "/api/click"}, {"POST", "/api/stop"},
		{"PATCH", "/apis/tilt.dev/v1alpha1/configmaps/" + s.Resource + "-disable"}, {"POST", "/apis/hone.dev/v1alpha1/sessions"}, {"POST", "/nowhere"}} {
		for _, chunked := range []bool{false, true} {
			err := s.endless(ctx, c, w.method, w.path, chunked)
			if ctx.Err() != nil { // the request was cut short
				return errors.Join(errs...)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %s, chunked %t: %w", w.method, w.path, chunked, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (s Target) endless(ctx context.Context, c *http.Client, method, path string, chunked bool) error {
	sent := &counted{r: io.LimitReader(spaces{}, endless)}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.Address+path, sent)
	if err != nil {
		return err
	}
	if !chunked {
		r.ContentLength = endless
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode < http.StatusBadRequest {
			return fmt.Errorf("was served: %d", resp.StatusCode)
		}
	}
	if n := sent.n.Load(); n > taken {
		return fmt.Errorf("%d bytes were taken", n)
	}
	return unanswered(err)
}

// spaces is endless white space.
type spaces struct{}

// Read implements io.Reader.
func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// counted counts the bytes read from a reader.
type counted struct {
	r io.Reader
	n atomic.Int64
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}
