package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/api"
)

const hour = api.Milliseconds(time.Hour / time.Millisecond)

func TestGrantsCreate(t *testing.T) {
	var g Grants
	defer g.End()
	if _, err := g.Create(api.TokenRequest{Name: "taken", ForMs: hour}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		req  api.TokenRequest
		want string // the permissions, or a part of the error
	}{
		{api.TokenRequest{Name: "a", ForMs: hour}, "status"},
		{api.TokenRequest{Name: "b", Allow: []api.Permission{"trigger", "logs", "logs", "status"}, ForMs: api.LongestToken}, "status,logs,trigger"},
		{api.TokenRequest{Name: "taken", ForMs: hour}, `there is a token "taken" already`},
		{api.TokenRequest{Name: "", ForMs: hour}, "is no name of a token"},
		{api.TokenRequest{Name: Owner, ForMs: hour}, "is no name of a token"},
		{api.TokenRequest{Name: Page, ForMs: hour}, "is no name of a token"},
		{api.TokenRequest{Name: "two\nlines", ForMs: hour}, "is no name of a token"},
		{api.TokenRequest{Name: "\x1b[31m", ForMs: hour}, "is no name of a token"},
		{api.TokenRequest{Name: strings.Repeat("a", 64), ForMs: hour}, "is no name of a token"},
		{api.TokenRequest{Name: strings.Repeat("a", 63), ForMs: hour}, "status"},
		{api.TokenRequest{Name: "c", Allow: []api.Permission{"everything"}, ForMs: hour}, `allow: "everything" is none of status,logs,`},
		{api.TokenRequest{Name: "c", Allow: []api.Permission{api.PermissionOwner}, ForMs: hour}, `allow: "owner" is none of`},
		{api.TokenRequest{Name: "c"}, "for: a token is valid for up to 720 hours"},
		{api.TokenRequest{Name: "c", ForMs: -1}, "for: "},
		{api.TokenRequest{Name: "c", ForMs: api.LongestToken + 1}, "for: "},
	} {
		is, err := g.Create(tc.req)
		got := api.PermissionList(is.Allow)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tc.want) && (err == nil || !strings.Contains(got, tc.want)) {
			t.Errorf("%+v: %s, want %s", tc.req, got, tc.want)
		}
		if err == nil && len(is.Token) < 26 {
			t.Errorf("token %q has fewer than 128 bits", is.Token)
		}
	}
	for i := 0; len(g.List()) < mostGrants; i++ {
		if _, err := g.Create(api.TokenRequest{Name: fmt.Sprint("n", i), ForMs: hour}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Create(api.TokenRequest{Name: "more", ForMs: hour}); err == nil {
		t.Error("there is no limit")
	}
}

// TestGrantsEnd follows tokens to their ends, with a request that is under way.
func TestGrantsEnd(t *testing.T) {
	for name, end := range map[string]func(*Grants){
		"expired": func(*Grants) { time.Sleep(time.Hour) },
		"revoked": func(g *Grants) {
			if !g.Revoke("x") || g.Revoke("x") {
				t.Error("revoked: not once")
			}
		},
		"the session ends": (*Grants).End,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g Grants
				defer g.End()
				is, err := g.Create(api.TokenRequest{Name: "x", Allow: []api.Permission{api.PermissionLogs}, ForMs: hour})
				if err != nil {
					t.Fatal(err)
				}
				var actors []string
				h := Guard(Rules{Token: "t", Grants: &g, Refuse: func(w http.ResponseWriter, _ *http.Request, code int, _ string) { w.WriteHeader(code) }},
					http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						a := ActorOf(r.Context())
						actors = append(actors, fmt.Sprint(a.Name, " ", a.May(api.PermissionLogs), a.May(api.PermissionTrigger), a.May(api.PermissionOwner), a.Owns()))
						if r.URL.Path == "/follow" {
							<-r.Context().Done()
						}
					}))
				ask := func(path, token string) int {
					r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
					r.Header.Set("Authorization", "Bearer "+token)
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					return w.Code
				}
				if code := ask("/", is.Token+"x"); code != http.StatusUnauthorized {
					t.Errorf("a longer token: %d", code)
				}
				if code := ask("/", is.Token[1:]); code != http.StatusUnauthorized {
					t.Errorf("a shorter token: %d", code)
				}
				if code := ask("/", "t"); code != http.StatusOK {
					t.Errorf("the session's own token: %d", code)
				}
				done := make(chan int, 1)
				go func() { done <- ask("/follow", is.Token) }()
				synctest.Wait()
				if len(g.List()) != 1 || g.List()[0].Token != "" {
					t.Errorf("%+v", g.List())
				}
				end(&g)
				synctest.Wait()
				select {
				case <-done:
				default:
					t.Error("a request outlives its token")
				}
				if code := ask("/", is.Token); code != http.StatusUnauthorized || len(g.List()) != 0 {
					t.Errorf("after the end: %d, %+v", code, g.List())
				}
				if diff := cmp.Diff([]string{"owner true true true true", "x true false false false"}, actors); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestDelegate checks that a handler gets the token of a request only to pass it on, and never the session's own token.
func TestDelegate(t *testing.T) {
	var g Grants
	defer g.End()
	is, err := g.Create(api.TokenRequest{Name: "x", ForMs: hour})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{"t": "", is.Token: "Bearer " + is.Token} {
		var before, after string
		h := Guard(Rules{Token: "t", Grants: &g}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			before = r.Header.Get("Authorization")
			ActorOf(r.Context()).Delegate(r)
			after = r.Header.Get("Authorization")
		}))
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if before != "" || after != want {
			t.Errorf("%q, then %q, want %q", before, after, want)
		}
	}
}
