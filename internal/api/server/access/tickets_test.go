package access

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestTickets redeems tickets as browsers and others do.
func TestTickets(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	tickets := NewTickets(func() time.Time { return now })
	h := Guard(Rules{Token: "t", Cookie: "hone-session-1", Tickets: tickets, Refuse: func(w http.ResponseWriter, _ *http.Request, code int, _ string) { w.WriteHeader(code) }},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !ByCookie(r.Context()) {
				t.Error("a request with the cookie does not count as a browser's")
			}
		}))
	visit := func(method, target string, header http.Header) *http.Response {
		r := httptest.NewRequest(method, target, nil)
		for k, v := range header {
			r.Header[k] = v
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	const start = "http://127.0.0.1:1/?ticket="
	for _, tc := range []struct {
		name string
		// url returns the address that is visited with a new ticket.
		url    func(ticket string) string
		method string
		header http.Header
		want   int
	}{
		{"a browser", func(s string) string { return start + s }, "GET", http.Header{"Sec-Fetch-Site": {"none"}}, 303},
		{"a link on a foreign page", func(s string) string { return start + s }, "GET", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"a foreign page's fetch", func(s string) string { return start + s }, "GET", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"a foreign page's form", func(s string) string { return start + s }, "POST", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"a form", func(s string) string { return start + s }, "POST", nil, 401},
		{"a preview", func(s string) string { return start + s }, "HEAD", nil, 401},
		{"a foreign name for this machine", func(s string) string { return "http://evil.example:1/?ticket=" + s }, "GET", nil, 403},
		{"another path", func(s string) string { return "http://127.0.0.1:1/api/view?ticket=" + s }, "GET", nil, 401},
		{"a guess", func(s string) string { return start + strings.Repeat("A", len(s)) }, "GET", nil, 401},
		{"the beginning", func(s string) string { return start + s[:len(s)-1] }, "GET", nil, 401},
		{"the second time", func(s string) string { visit("GET", start+s, nil); return start + s }, "GET", nil, 401},
		{"just in time", func(s string) string { now = now.Add(TicketTime - 1); return start + s }, "GET", nil, 303},
		{"too late", func(s string) string { now = now.Add(TicketTime); return start + s }, "GET", nil, 401},
		{"an old one, after many others", func(s string) string {
			for range mostTickets {
				tickets.Issue("/")
			}
			return start + s
		}, "GET", nil, 401},
	} {
		ticket := tickets.Issue("/#/r/api")
		if len(ticket) < 26 { // base32: 130 bits
			t.Errorf("the ticket %q is short", ticket)
		}
		resp := visit(tc.method, tc.url(url.QueryEscape(ticket)), tc.header)
		if resp.StatusCode != tc.want || (len(resp.Cookies()) > 0) != (tc.want == 303) {
			t.Errorf("%s: %d %v, want %d", tc.name, resp.StatusCode, resp.Header, tc.want)
		}
		if tc.want != 303 {
			continue
		}
		c := resp.Cookies()[0]
		if c.Name != "hone-session-1" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Value == "t" {
			t.Errorf("%s: cookie %+v", tc.name, c)
		}
		if at := resp.Header.Get("Location"); at != "/#/r/api" {
			t.Errorf("%s: the browser goes on to %s", tc.name, at)
		}
		if resp = visit("GET", "http://127.0.0.1:1/x", http.Header{"Cookie": {c.Name + "=" + c.Value}}); resp.StatusCode != 200 {
			t.Errorf("%s: with the cookie %d", tc.name, resp.StatusCode)
		}
	}
}

// TestPolicy checks the headers of every answer.
func TestPolicy(t *testing.T) {
	h := Guard(Rules{Token: "t", Refuse: func(w http.ResponseWriter, _ *http.Request, code int, _ string) { w.WriteHeader(code) }}, http.NotFoundHandler())
	w := httptest.NewRecorder()
	r := httptest.NewRequest("OPTIONS", "http://127.0.0.1/api/view", nil)
	r.Header.Set("Origin", "https://evil.example")
	h.ServeHTTP(w, r)
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
			"frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Access-Control-Allow-Origin": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
