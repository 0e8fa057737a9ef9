package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
)

// grant returns a token that allows something.
func (f fixture) grant(t *testing.T, g *access.Grants, name string, allow ...api.Permission) string {
	t.Helper()
	is, err := g.Create(api.TokenRequest{Name: name, Allow: allow, ForMs: api.Milliseconds(time.Hour / time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	return is.Token
}

// as returns a request with another token.
func as(token, method, path, body string) *http.Request {
	r := request(method, path, body)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// TestPermissions asks for every route with tokens of one permission each. A route takes those that it needs, and refuses the others with the
// permission that is missing.
func TestPermissions(t *testing.T) {
	g := new(access.Grants)
	defer g.End()
	f := fixtureWith(Options{Grants: g}, statetest.Session, statetest.Loaded(statetest.Local("gen")))
	tokens := map[api.Permission]string{}
	for _, d := range api.Permissions {
		tokens[d.Permission] = f.grant(t, g, string(d.Permission), d.Permission)
	}
	type ask struct {
		method, path string
		needs        api.Permission
		// let is the route's handler, without the work behind it.
		let http.HandlerFunc
	}
	nothing := func(http.ResponseWriter, *http.Request) {}
	objects := permitted(http.HandlerFunc(nothing))
	asks := []ask{
		{"GET", "/apis/tilt.dev/v1alpha1/uiresources", api.PermissionStatus, objects},
		{"GET", "/openapi/v3", api.PermissionStatus, objects},
		{"POST", "/apis/tilt.dev/v1alpha1/configmaps", api.PermissionWrite, objects},
		{"DELETE", "/apis/tilt.dev/v1alpha1/configmaps/x", api.PermissionWrite, objects},
		{"PATCH", "/apis/tilt.dev/v1alpha1/configmaps/x", api.PermissionWrite, objects},
	}
	for _, r := range New(Options{}).routes(nil) {
		method, path, _ := strings.Cut(r.pattern, " ")
		if r.needs != api.PermissionOwner && !api.Grantable(r.needs) {
			t.Errorf("%s needs %q, which is no permission", r.pattern, r.needs)
		}
		r.serve = nothing
		asks = append(asks, ask{method, path, r.needs, r.permitted()})
	}
	for _, a := range asks {
		for p, token := range tokens {
			if a.needs == p || a.needs == api.PermissionStatus {
				w := httptest.NewRecorder()
				access.Guard(access.Rules{Token: "t", Grants: g, Refuse: refuse}, a.let).ServeHTTP(w, as(token, a.method, a.path, "no JSON"))
				if w.Code != http.StatusOK {
					t.Errorf("%s %s with %s: %d %s", a.method, a.path, p, w.Code, w.Body)
				}
				continue
			}
			code, body := f.do(as(token, a.method, a.path, "no JSON"))
			if code != http.StatusForbidden {
				t.Errorf("%s %s with %s: %d %s", a.method, a.path, p, code, body)
			}
			if named := strings.Contains(body, string(p)) && (a.needs == api.PermissionOwner || strings.Contains(body, "does not allow "+string(a.needs))); !named {
				t.Errorf("%s %s with %s: %s", a.method, a.path, p, body)
			}
		}
	}
}

// TestActor checks that events and updates name the one who has requested something.
func TestActor(t *testing.T) {
	g := new(access.Grants)
	defer g.End()
	f := fixtureWith(Options{Grants: g}, statetest.Session, statetest.Loaded(statetest.Local("gen"), statetest.Local("web")))
	bot := f.grant(t, g, "bot", api.PermissionTrigger, api.PermissionEnable)
	from := state.NewestEvent(f.store.Snapshot().All())
	for _, r := range []*http.Request{
		as(bot, "POST", "/api/trigger", `{"manifest_names":["gen"]}`),
		as(bot, "POST", "/api/restart", `{"manifest_names":["gen"]}`), // refused
		as(bot, "POST", "/api/switch", `{"state":"disabled","manifest_names":["web"]}`),
		request("POST", "/api/trigger", `{"manifest_names":["gen"]}`),
		request("POST", "/api/pause", `{"paused":true}`),
		request("POST", "/api/pause", `{"paused":true}`), // nothing changes
		as(bot, "POST", "/api/trigger", `{"manifest_names":["gen"]}`),
	} {
		f.do(r)
	}
	v := f.store.Snapshot().All()
	cursor := events.Cursor{After: from}
	all, _ := cursor.Next(v, 100)
	var got []string
	for _, e := range all {
		if e.Type != "resource-disabled" {
			got = append(got, strings.TrimSpace(e.Resource+" "+events.Words(e)))
		}
	}
	want := []string{"gen bot requested trigger: gen", "gen triggered", "web bot requested switch: web", "gen owner requested trigger: gen", "gen triggered",
		"owner requested pause", "session paused: updates start only on request", "gen bot requested trigger: gen", "gen triggered"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	u := state.Updates.In(v).Value("gen")
	if u.By != "bot" {
		t.Errorf("the update is requested by %q", u.By)
	}
	f.store.Dispatch(state.BuildStarted{Resource: "gen", Serial: 1, Reason: state.ReasonTrigger | state.ReasonFiles, At: statetest.Epoch})
	f.store.Step()
	if got := state.Updates.In(f.store.Snapshot().All()).Value("gen").Current.Because(); got != "files changed, triggered by bot" {
		t.Error(got)
	}
}

// TestTokenRequests creates, lists and revokes a token over the API.
func TestTokenRequests(t *testing.T) {
	g := new(access.Grants)
	defer g.End()
	f := fixtureWith(Options{Grants: g}, statetest.Session, statetest.Loaded(statetest.Local("gen")))
	code, body := f.do(request("POST", "/api/token", `{"name":"bot","allow":["logs"],"forMs":60000}`))
	var is api.Token
	if err := json.Unmarshal([]byte(body), &is); err != nil || code != 200 || is.ExpiresAt.Sub(is.CreatedAt) != time.Minute {
		t.Fatalf("%d %s", code, body)
	}
	if code, body = f.do(as(is.Token, "GET", "/api/tokens", "")); code != http.StatusForbidden || !strings.Contains(body, "only the owner") {
		t.Errorf("%d %s", code, body)
	}
	if code, body = f.do(as(is.Token, "GET", "/api/snapshot", "")); code != http.StatusForbidden || !strings.Contains(body, "does not allow snapshot") {
		t.Errorf("a snapshot with logs: %d %s", code, body)
	}
	if code, body = f.do(as(is.Token, "POST", "/api/token", `{"name":"more","allow":["stop"],"forMs":60000}`)); code != http.StatusForbidden {
		t.Errorf("a token creates another one: %d %s", code, body)
	}
	if code, body = f.do(request("GET", "/api/tokens", "")); code != 200 || !strings.Contains(body, `"name":"bot"`) || strings.Contains(body, is.Token) {
		t.Errorf("%d %s", code, body)
	}
	for _, tc := range []struct {
		path, body string
		code       int
		want       string
	}{
		{"/api/token", `{"name":"bot","forMs":60000}`, 409, "hone token revoke bot"},
		{"/api/token", `{"name":"b b","forMs":60000}`, 400, "is no name of a token"},
		{"/api/token/revoke", `{"name":"bto"}`, 404, `no token \"bto\"`},
		{"/api/token/revoke", `{"name":"bot"}`, 200, "{}"},
		{"/api/token/revoke", `{"name":"bot"}`, 404, `no token \"bot\"`},
	} {
		if code, body := f.do(request("POST", tc.path, tc.body)); code != tc.code || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s: %d %s", tc.path, tc.body, code, body)
		}
	}
	if code, body = f.do(request("POST", "/api/kubeconfig", `{"forMs":60000}`)); code != http.StatusConflict || !strings.Contains(body, "no cluster") {
		t.Errorf("a kubeconfig without a cluster: %d %s", code, body)
	}
	if code, _ = f.do(as(is.Token, "GET", "/api/view", "")); code != http.StatusUnauthorized {
		t.Errorf("revoked: %d", code)
	}
	if slices.ContainsFunc(g.List(), func(t api.Token) bool { return t.Name == "bot" }) {
		t.Error("it is still listed")
	}
}
