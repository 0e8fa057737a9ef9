package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// labelled is a resource with labels.
func labelled(name string, labels ...string) model.Manifest {
	m := statetest.Local(name)
	m.Labels = labels
	return m
}

// positions returns the resources of a store with their current or next state: "a+ b-".
func positions(v store.View) string {
	var out []string
	for _, t := range intent.Switchable(v) {
		out = append(out, t.Name+map[bool]string{true: "+", false: "-"}[t.Enabled])
	}
	return strings.Join(out, " ")
}

// TestSwitch requests switches one after another: each starts with a and b on, and c off.
func TestSwitch(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(labelled("b", "front", "web"), labelled("a", "back"), labelled("c", "front")))
	begin := func() {
		f.Dispatch(state.ResourcesSwitched{On: []model.ManifestName{"a", "b"}, Off: []model.ManifestName{"c"}})
		f.Until("a and b are on, c is off", func(v store.View) bool { return positions(v) == "b+ a+ c-" })
	}
	for _, tc := range []struct {
		name, body string
		code       int
		// want are the positions afterwards, answer is a part of the answer.
		want, answer string
	}{
		{"disable some", `{"state":"disabled","manifest_names":["a","b"]}`, 200, "b- a- c-", `{"enabled":[],"disabled":["b","a"],"unchanged":[]}`},
		{"enable an enabled resource", `{"state":"enabled","manifest_names":["a"]}`, 200, "b+ a+ c-", `{"enabled":[],"disabled":[],"unchanged":["a"]}`},
		{"all on", `{"state":"enabled","all":true}`, 200, "b+ a+ c+", `{"enabled":["c"],"disabled":[],"unchanged":["b","a"]}`},
		{"all off", `{"state":"disabled","all":true}`, 200, "b- a- c-", `{"enabled":[],"disabled":["b","a"],"unchanged":["c"]}`},
		{"only one", `{"state":"enabled","manifest_names":["c"],"only":true}`, 200, "b- a- c+", `{"enabled":["c"],"disabled":["b","a"],"unchanged":[]}`},
		{"only an enabled resource", `{"state":"enabled","labels":["back"],"only":true}`, 200, "b- a+ c-", `{"enabled":[],"disabled":["b"],"unchanged":["a"]}`},
		{"by label", `{"state":"enabled","labels":["front"]}`, 200, "b+ a+ c+", `{"enabled":["c"],"disabled":[],"unchanged":["b"]}`},
		{"by label and name", `{"state":"disabled","labels":["web"],"manifest_names":["a"]}`, 200, "b- a- c-", `{"enabled":[],"disabled":["b","a"],"unchanged":[]}`},
		{"an unknown name: nothing is done", `{"state":"disabled","manifest_names":["a","bb"]}`, 404, "b+ a+ c-",
			`{"error":"no resource is called \"bb\"","mend":"did you mean b? there are: b, a, c"}`},
		{"an unknown label", `{"state":"disabled","labels":["front","bcak"]}`, 404, "b+ a+ c-",
			`{"error":"no label is called \"bcak\"","mend":"did you mean back? there are: back, front, web"}`},
		{"the Tiltfile", `{"state":"disabled","manifest_names":["a","(Tiltfile)"]}`, 404, "b+ a+ c-", `(Tiltfile) cannot be enabled or disabled`},
		{"nothing", `{"state":"disabled"}`, 400, "b+ a+ c-", `must specify at least one resource`},
		{"only nothing", `{"state":"enabled","only":true}`, 400, "b+ a+ c-", `must specify at least one resource`},
		{"all and names", `{"state":"disabled","all":true,"manifest_names":["a"]}`, 400, "b+ a+ c-", `all cannot be combined`},
		{"all and only", `{"state":"enabled","all":true,"only":true}`, 400, "b+ a+ c-", `all cannot be combined`},
		{"another state", `{"state":"off","all":true}`, 400, "b+ a+ c-", `\"off\" is neither enabled nor disabled`},
		{"no JSON", `all`, 400, "b+ a+ c-", `read the request`},
	} {
		begin()
		code, body := f.ask("http", "POST", "/api/switch", tc.body)
		if code != tc.code || !strings.Contains(body, tc.answer) {
			t.Errorf("%s: %d %s, want %d %s", tc.name, code, body, tc.code, tc.answer)
		}
		// The answer comes when the switch is done, so there is nothing to wait for.
		if got := positions(f.Store.Snapshot().All()); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestChangesAreGuarded requests changes without one of the things that they require.
func TestChangesAreGuarded(t *testing.T) {
	f := newFixture(statetest.Session, statetest.Loaded(statetest.Local("a")))
	for path, body := range map[string]string{"/api/switch": `{"state":"disabled","all":true}`, "/api/set_tiltfile_args": `["a"]`,
		"/api/pause": `{"paused":true}`, "/api/restart": `{"manifest_names":["a"]}`, "/api/forwards": `{"manifest_name":"a","add":"1"}`} {
		for name, tc := range map[string]struct {
			change func(*http.Request)
			want   int
		}{
			"without the token": {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
			"by another host":   {func(r *http.Request) { r.Host = "evil.example" }, 403},
			"from a page":       {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
			"as a form":         {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
			"to read":           {func(r *http.Request) { r.Method = http.MethodGet; r.Body, r.ContentLength = http.NoBody, 0 }, 405},
		} {
			r := request("POST", path, body)
			tc.change(r)
			if code, answer := f.do(r); code != tc.want {
				t.Errorf("%s %s: %d %s, want %d", path, name, code, answer, tc.want)
			}
		}
	}
	f.store.Step()
	v := f.store.Snapshot().All()
	if positions(v) != "a+" || state.TheSession(v).Paused() || !state.TheTiltfile(v).Triggered.IsZero() {
		t.Error("something was changed")
	}
}

// TestSwitchThousand switches a thousand resources: one action beside the one that reports the request, well within two seconds.
func TestSwitchThousand(t *testing.T) {
	f := serveLive(t)
	f.declare(1000)
	writes, start := f.writes(), time.Now()
	code, answer := f.ask("unix", "POST", "/api/switch", `{"state":"disabled","all":true}`)
	if took := time.Since(start); code != 200 || took > 2*time.Second {
		t.Errorf("%d after %s: %.200s", code, took, answer)
	}
	var result api.SwitchResult
	if err := json.Unmarshal([]byte(answer), &result); err != nil || len(result.Disabled) != 1000 {
		t.Errorf("%v, %d are disabled", err, len(result.Disabled))
	}
	if got := positions(f.Store.Snapshot().All()); strings.Count(got, "-") != 1000 {
		t.Errorf("%.200s", got)
	}
	if n := f.writes() - writes; n != 2 {
		t.Errorf("%d actions", n)
	}
}

// writes returns how many actions the server has dispatched.
func (f *live) writes() (n uint64) {
	for _, s := range f.Store.Subscribers() {
		if s.Name == name {
			n = s.Writes
		}
	}
	return n
}
