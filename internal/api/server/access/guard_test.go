package access

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGuard(t *testing.T) {
	open := Rules{Token: "t", Hosts: []string{"dev-box"}}
	tickets := NewTickets(nil)
	secret := Rules{Token: "t", Cookie: "c", Tickets: tickets}
	cookie := func(name, value string) http.Header { return http.Header{"Cookie": {name + "=" + value}} }
	ours := tickets.cookie
	shows := func(more ...string) http.Header {
		h := http.Header{"Authorization": {"Bearer t"}}
		for _, origin := range more {
			h.Add("Origin", origin)
		}
		return h
	}
	for _, tc := range []struct {
		name   string
		rules  Rules
		target string
		header http.Header
		want   int
	}{
		{"an address", open, "http://127.0.0.1:1/x", shows(), 200},
		{"a name of this machine", open, "http://Dev-Box:1/x", shows(), 200},
		{"another name", open, "http://dev-box.evil:1/x", shows(), 403},
		{"any name at the socket", Rules{Local: true}, "http://anything/x", nil, 200},
		{"a page at the socket", Rules{Local: true}, "http://localhost/x", http.Header{"Origin": {"http://localhost"}}, 403},
		{"the own page", open, "http://localhost:1/x", shows("http://localhost:1"), 200},
		{"two origins", open, "http://localhost:1/x", shows("http://localhost:1", "https://evil"), 403},
		{"the token", secret, "http://localhost/x", http.Header{"Authorization": {"bearer t"}}, 200},
		{"the cookie", secret, "http://localhost/x", cookie("c", ours), 200},
		{"the token as a cookie", secret, "http://localhost/x", cookie("c", "t"), 401},
		{"the cookie of another port", secret, "http://localhost/x", cookie("c2", ours), 401},
		{"the cookie of another session on this port", secret, "http://localhost/x", cookie("c", NewTickets(nil).cookie), 401},
		{"a cookie where no browser may come in", open, "http://localhost/x", cookie("c", ours), 401},
		{"a wrong token beside the cookie", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Authorization": {"Bearer x"}}, 401},
		{"the cookie, from a page that fetches", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Origin": {"https://evil.example"}}, 403},
		{"the cookie, from a page of another port", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Sec-Fetch-Site": {"same-site"}}, 403},
		{"the cookie, from an image or an event stream", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Sec-Fetch-Site": {"cross-site"}}, 403},
		{"the cookie, from a frame", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"iframe"}}, 403},
		{"the cookie, from a sandboxed page", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Origin": {"null"}}, 403},
		{"the cookie, under a name that resolves to this machine", secret, "http://evil.example/x", cookie("c", ours), 403},
		{"the cookie, for a WebSocket", secret, "http://localhost/x", http.Header{"Cookie": {"c=" + ours}, "Origin": {"http://evil.example"}, "Upgrade": {"websocket"},
			"Connection": {"Upgrade"}}, 403},
		{"the token in another path", secret, "http://localhost/x?token=t", nil, 401},
		{"the token at the start", secret, "http://localhost/?token=t", nil, 303},
		{"nothing", secret, "http://localhost/", nil, 401},
		{"a port that has lost its token", Rules{}, "http://localhost/x", nil, 401},
		{"an empty token for that", Rules{Cookie: "c", Tickets: tickets}, "http://localhost/x", http.Header{"Authorization": {"Bearer "}}, 401},
		{"an empty cookie for that", Rules{Cookie: "c", Tickets: tickets}, "http://localhost/x", http.Header{"Cookie": {"c="}}, 401},
		{"an empty ticket at its start", Rules{Token: "t", Cookie: "c", Tickets: tickets}, "http://localhost/?ticket=", nil, 401},
		{"an empty token at its start", Rules{Cookie: "c", Tickets: tickets}, "http://localhost/?token=", nil, 401},
		{"the socket, which needs none", Rules{Local: true}, "http://localhost/x", nil, 200},
		{"the socket of a session with a token", Rules{Local: true, Token: "t"}, "http://localhost/x", nil, 200},
		{"the token at the socket", Rules{Local: true, Token: "t"}, "http://localhost/x", shows(), 200},
		{"another token at the socket", Rules{Local: true, Token: "t2"}, "http://localhost/x", shows(), 401},
		{"an empty token at the socket of a session without one", Rules{Local: true}, "http://localhost/x", http.Header{"Authorization": {"Bearer "}}, 401},
		{"a slash at the end", open, "http://localhost/x/", shows(), 200},
		{"two of them", open, "http://localhost/x//", shows(), 400},
		{"up", open, "http://localhost/x/../y", shows(), 400},
		{"up, hidden", open, "http://localhost/x/%2e%2e/y", shows(), 400},
		{"a hidden slash", open, "http://localhost/x%2Fy", shows(), 400},
		{"hidden twice", open, "http://localhost/x%252Fy", shows(), 400},
		{"a bracket", open, "http://localhost/%28Tiltfile%29", shows(), 200},
	} {
		var seen http.Header
		tc.rules.Refuse = func(w http.ResponseWriter, _ *http.Request, code int, _ string) { w.WriteHeader(code) }
		h := Guard(tc.rules, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header }))
		r := httptest.NewRequest("GET", tc.target, nil)
		if tc.header != nil {
			r.Header = tc.header.Clone()
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tc.want || (seen != nil) != (tc.want == 200) {
			t.Errorf("%s: %d, want %d", tc.name, w.Code, tc.want)
		}
		if tc.rules.Token != "" && (seen.Get("Authorization") != "" || seen.Get("Cookie") != "") {
			t.Errorf("%s: the token goes on: %v", tc.name, seen)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", tc.name, w.Header())
		}
	}
}
