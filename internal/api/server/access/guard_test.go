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
	secret := Rules{Token: "t", Cookie: "c"}
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
		{"the cookie", secret, "http://localhost/x", http.Header{"Cookie": {"c=t"}}, 200},
		{"a wrong token beside the cookie", secret, "http://localhost/x", http.Header{"Cookie": {"c=t"}, "Authorization": {"Bearer x"}}, 401},
		{"the token in another path", secret, "http://localhost/x?token=t", nil, 401},
		{"the token at the start", secret, "http://localhost/?token=t", nil, 303},
		{"nothing", secret, "http://localhost/", nil, 401},
		{"a port that has lost its token", Rules{}, "http://localhost/x", nil, 401},
		{"an empty token for that", Rules{Cookie: "c"}, "http://localhost/x", http.Header{"Authorization": {"Bearer "}}, 401},
		{"an empty cookie for that", Rules{Cookie: "c"}, "http://localhost/x", http.Header{"Cookie": {"c="}}, 401},
		{"an empty token at its start", Rules{Cookie: "c"}, "http://localhost/?token=", nil, 401},
		{"the socket, which needs none", Rules{Local: true}, "http://localhost/x", nil, 200},
		{"the socket with a token", Rules{Local: true, Token: "t"}, "http://localhost/x", nil, 401},
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
