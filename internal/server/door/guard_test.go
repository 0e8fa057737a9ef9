package door

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGuard(t *testing.T) {
	open := Rules{Hosts: []string{"dev-box"}}
	secret := Rules{Token: "t", Cookie: "c"}
	for _, tc := range []struct {
		name   string
		rules  Rules
		target string
		header http.Header
		want   int
	}{
		{"an address", open, "http://127.0.0.1:1/x", nil, 200},
		{"a name of this machine", open, "http://Dev-Box:1/x", nil, 200},
		{"another name", open, "http://dev-box.evil:1/x", nil, 403},
		{"any name at the socket", Rules{Local: true}, "http://anything/x", nil, 200},
		{"a page at the socket", Rules{Local: true}, "http://localhost/x", http.Header{"Origin": {"http://localhost"}}, 403},
		{"the own page", open, "http://localhost:1/x", http.Header{"Origin": {"http://localhost:1"}}, 200},
		{"two origins", open, "http://localhost:1/x", http.Header{"Origin": {"http://localhost:1", "https://evil"}}, 403},
		{"the token", secret, "http://localhost/x", http.Header{"Authorization": {"bearer t"}}, 200},
		{"the cookie", secret, "http://localhost/x", http.Header{"Cookie": {"c=t"}}, 200},
		{"a wrong token beside the cookie", secret, "http://localhost/x", http.Header{"Cookie": {"c=t"}, "Authorization": {"Bearer x"}}, 401},
		{"the token in another path", secret, "http://localhost/x?token=t", nil, 401},
		{"the token at the start", secret, "http://localhost/?token=t", nil, 303},
		{"nothing", secret, "http://localhost/", nil, 401},
		{"a slash at the end", open, "http://localhost/x/", nil, 200},
		{"two of them", open, "http://localhost/x//", nil, 400},
		{"up", open, "http://localhost/x/../y", nil, 400},
		{"up, hidden", open, "http://localhost/x/%2e%2e/y", nil, 400},
		{"a hidden slash", open, "http://localhost/x%2Fy", nil, 400},
		{"hidden twice", open, "http://localhost/x%252Fy", nil, 400},
		{"a bracket", open, "http://localhost/%28Tiltfile%29", nil, 200},
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
