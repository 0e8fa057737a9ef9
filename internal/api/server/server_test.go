package server

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is the handler of a store whose loop runs only when the test steps it.
type fixture struct {
	store   *store.Store
	handler http.Handler
}

func newFixture(actions ...store.Action) fixture {
	return fixtureWith(Options{Version: "1.2.3"}, actions...)
}

func fixtureWith(o Options, actions ...store.Action) fixture {
	st := store.New(state.Schema, store.WithClock(func() time.Time { return statetest.Epoch }))
	sub := New(o)
	f := fixture{st, access.Guard(access.Rules{Token: token, Grants: sub.options.Grants, Refuse: refuse}, sub.handler(store.NewRuntime(st, sub)))}
	for _, a := range actions {
		st.Dispatch(a)
		st.Step()
	}
	return f
}

// request returns a request like the requests of a script on this machine.
func request(method, path, body string) *http.Request {
	if method == http.MethodGet {
		body = ""
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:10350"
	r.Header.Set("Authorization", "Bearer "+token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (f fixture) do(r *http.Request) (code int, body string) {
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.handler.ServeHTTP(w, r)
	}()
	step := time.NewTicker(time.Millisecond)
	defer step.Stop()
	for {
		select {
		case <-done:
			return w.Code, w.Body.String()
		case <-step.C:
			f.store.Step() // a request that changes something is answered when its actions are reduced
		}
	}
}

func TestGuard(t *testing.T) {
	f := newFixture(statetest.Session, statetest.Loaded(statetest.Local("gen")))
	for _, tc := range []struct {
		name, method, host string
		header             map[string]string
		want               int
	}{
		{"a script", "GET", "localhost:10350", nil, 200},
		{"by address", "GET", "127.0.0.1:10350", nil, 200},
		{"by IPv6 address", "GET", "[::1]:10350", nil, 200},
		{"without a port", "GET", "localhost", nil, 200},
		{"a foreign name that resolves to this machine", "GET", "evil.example:10350", nil, 403},
		{"a name that begins like ours", "GET", "localhost.evil.example", nil, 403},
		{"a name that begins like an address", "GET", "127.0.0.1.evil.example:10350", nil, 403},
		{"no host", "GET", "", nil, 403},
		{"the own page", "GET", "localhost:10350", map[string]string{"Origin": "http://localhost:10350"}, 200},
		{"a foreign page", "GET", "localhost:10350", map[string]string{"Origin": "https://evil.example"}, 403},
		{"another port of this machine", "GET", "localhost:10350", map[string]string{"Origin": "http://localhost:3000"}, 403},
		{"a sandboxed page", "GET", "localhost:10350", map[string]string{"Origin": "null"}, 403},
		{"JSON", "POST", "localhost:10350", map[string]string{"Content-Type": "application/json; charset=utf-8"}, 200},
		{"a form", "POST", "localhost:10350", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"plain text, which a page may send anywhere", "POST", "localhost:10350", map[string]string{"Content-Type": "text/plain"}, 415},
		{"no type", "POST", "localhost:10350", map[string]string{"Content-Type": ""}, 415},
		{"JSON from a foreign page", "POST", "localhost:10350", map[string]string{"Content-Type": "application/json", "Origin": "https://evil.example"}, 403},
	} {
		path := map[string]string{"GET": "/api/view", "POST": "/api/trigger"}[tc.method]
		r := request(tc.method, path, `{"manifest_names":["gen"]}`)
		r.Host = tc.host
		for k, v := range tc.header {
			r.Header.Set(k, v)
		}
		code, body := f.do(r)
		if code != tc.want {
			t.Errorf("%s: %d %s, want %d", tc.name, code, body, tc.want)
		}
		var failure api.Failure
		if code != 200 && (json.Unmarshal([]byte(body), &failure) != nil || failure.Error == "") {
			t.Errorf("%s: no reason in JSON: %s", tc.name, body)
		}
	}
	f.store.Step()
	if state.Updates.In(f.store.Snapshot().All()).Value("gen").Triggered.IsZero() {
		t.Error("the good request did nothing")
	}
}

func TestTrigger(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		code       int
		answer     string
		triggered  []string
	}{
		{"one", `{"manifest_names":["a"]}`, 200, "{}", []string{"a"}},
		{"several", `{"manifest_names":["b","a"]}`, 200, "{}", []string{"a", "b"}},
		{"the Tiltfile", `{"manifest_names":["(Tiltfile)"]}`, 200, "{}", []string{"(Tiltfile)"}},
		{"none", `{"manifest_names":[]}`, 400, "must specify at least one resource", nil},
		{"an unknown one: nothing is done", `{"manifest_names":["a","x"]}`, 404, `{"error":"no resource is called \"x\"","mend":"did you mean a? there are: (Tiltfile), a, b, off"}`, nil},
		{"a disabled one", `{"manifest_names":["off"]}`, 409, "hone enable off", nil},
		{"no JSON", `a`, 400, "read the request", nil},
		{"too long", `{"manifest_names":["` + strings.Repeat("a", maxBody) + `"]}`, 413, "too large", nil},
	} {
		f := newFixture(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b"), statetest.Local("off")),
			state.ResourcesSwitched{Off: []model.ManifestName{"off"}})
		code, body := f.do(request("POST", "/api/trigger", tc.body))
		if code != tc.code || !strings.Contains(body, tc.answer) {
			t.Errorf("%s: %d %s, want %d %s", tc.name, code, body, tc.code, tc.answer)
		}
		f.store.Step()
		v := f.store.Snapshot().All()
		var got []string
		if !state.TheTiltfile(v).Triggered.IsZero() {
			got = append(got, "(Tiltfile)")
		}
		for e := range state.Updates.In(v).Refs() {
			if !e.Value.Triggered.IsZero() {
				got = append(got, e.ID)
			}
		}
		if diff := cmp.Diff(tc.triggered, got); diff != "" {
			t.Errorf("%s: triggered (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	f := newFixture()
	for _, tc := range []struct {
		method, path string
		want         int
	}{{"GET", "/", 404}, {"GET", "/api/trigger", 405}, {"POST", "/api/view", 405}, {"DELETE", "/api/view", 405}} {
		if code, _ := f.do(request(tc.method, tc.path, "{}")); code != tc.want {
			t.Errorf("%s %s: %d, want %d", tc.method, tc.path, code, tc.want)
		}
	}
}

func TestEmptyView(t *testing.T) {
	f := newFixture()
	code, body := f.do(request("GET", "/api/view", ""))
	if code != 200 || !strings.Contains(body, `"resources": []`) || !strings.Contains(body, `"version": "1.2.3"`) {
		t.Errorf("%d %s", code, body)
	}
}

// TestViewOfServers shows the server of a local resource, and no error about a cluster that no resource needs.
func TestViewOfServers(t *testing.T) {
	srv := statetest.Local("srv")
	srv.Local.Serve = model.Cmd{Argv: []string{"serve"}}
	s := statetest.New(statetest.Session, statetest.Loaded(srv), state.ClusterReported{Err: "no kubeconfig was found"}).Begin("srv").Finish("srv", nil)
	check := func(p state.Process, want api.Process, status, runtimeErr string) {
		t.Helper()
		p.Resource, p.Build = "srv", 1
		v := View(s.Then(state.ProcessChanged{Process: p}).View(), "1")
		if v.ClusterError != "" {
			t.Errorf("cluster: %q", v.ClusterError)
		}
		if diff := cmp.Diff(&want, v.Resources[0].Process); diff != "" {
			t.Errorf("process (-want +got):\n%s", diff)
		}
		if r := v.Resources[0]; r.RuntimeStatus != status || r.RuntimeError != runtimeErr {
			t.Errorf("runtime %s %q, want %s %q", r.RuntimeStatus, r.RuntimeError, status, runtimeErr)
		}
	}
	check(state.Process{State: state.ProcessRunning, PID: 7, Detail: "connection refused"},
		api.Process{State: "running", PID: 7, Detail: "connection refused"}, "pending", "connection refused")
	check(state.Process{State: state.ProcessRunning, PID: 7, Ready: true}, api.Process{State: "running", PID: 7, Ready: true}, "ok", "")
	zero := 0
	check(state.Process{State: state.ProcessFailed, Err: "serve_cmd ended: exit code 0"}, api.Process{State: "failed", ExitCode: &zero},
		"error", "serve_cmd ended: exit code 0")
}

// TestViewOfProgress checks the session's report about a running update: the stage in words, and its progress.
func TestViewOfProgress(t *testing.T) {
	s := statetest.New(statetest.Session, statetest.Loaded(statetest.K8s("web", statetest.Image("web")))).Then(statetest.Connected()...).Begin("web")
	if b := View(s.View(), "1").Resources[0].CurrentBuild; b == nil || b.Progress != nil {
		t.Errorf("before the first step: %+v", b)
	}
	s.Then(state.BuildProgressed{Resource: "web", Serial: 1, Mode: "image", Stage: "3/7 Building Dockerfile: [web]",
		Progress: model.BuildProgress{Kind: model.StepBuild, Image: "web", Nth: 2, Images: 3, Step: 4, Steps: 7}})
	b := View(s.View(), "1").Resources[0].CurrentBuild
	if b.Stage != "3/7 Building Dockerfile: [web]" {
		t.Errorf("stage %q", b.Stage)
	}
	if diff := cmp.Diff(&api.Progress{Kind: "build", Image: "web", Nth: 2, Images: 3, Step: 4, Steps: 7}, b.Progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	s.Then(state.BuildProgressed{Resource: "web", Serial: 1, Mode: "image", Stage: "4/7 Pushing web:1",
		Progress: model.BuildProgress{Kind: model.StepPush, Image: "web", Nth: 2, Images: 3, Percent: 45}})
	if diff := cmp.Diff(&api.Progress{Kind: "push", Image: "web", Nth: 2, Images: 3, Percent: 45}, View(s.View(), "1").Resources[0].CurrentBuild.Progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	s.Finish("web", nil)
	if b := View(s.View(), "1").Resources[0].BuildHistory[0]; b.Progress != nil {
		t.Errorf("an update that has ended has progress: %+v", b.Progress)
	}
}

func TestView(t *testing.T) {
	web := statetest.K8s("web", statetest.Image("web"))
	web.Labels = []string{"shop"}
	gen := statetest.Local("gen")
	gen.TriggerMode = model.TriggerManual
	api2 := statetest.K8s("late")
	api2.ResourceDeps = []model.ManifestName{"web"}
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(web, gen, api2, statetest.Compose("db"))).Then(statetest.Connected()...)
	s.Deployed("web").Then(statetest.Pod("web", "p", "c", "web:1"), statetest.Change("web", "/src/web/x"))
	s.Begin("gen").Finish("gen", func(b *state.BuildCompleted) { b.Err = "exit code 1" })
	s.Then(state.ForwardChanged{ID: "web/80", Forward: state.Forward{Resource: "web", Spec: model.PortForward{LocalPort: 80}, URL: "http://localhost:80/", State: state.ForwardReady, Pod: "default/p:80"}},
		state.ServiceChanged{Service: model.Service{UID: "s", Resource: "web", URL: "http://10.0.0.1"}}, state.ServiceChanged{Service: model.Service{UID: "t", Resource: "web"}},
		state.WatchReported{Problem: "too many files"}, store.SubscriberReported{Name: "Sub", State: store.SubscriberBackingOff, Crashes: 2, Err: "oops"},
		state.EngineReported{Err: "no engine"})
	v := View(s.View(), "1")
	if v.Tiltfile != "/src/Tiltfile" || v.Context != "hone-dev" || v.WatchError != "too many files" || v.EngineError != "no engine" || len(v.Resources) != 4 {
		t.Fatalf("%+v", v)
	}
	if diff := cmp.Diff([]api.Subscriber{{Name: "Sub", State: "backing off", Crashes: 2, Error: "oops"}}, v.Subscribers); diff != "" {
		t.Errorf("subscribers (-want +got):\n%s", diff)
	}
	got := v.Resources[0]
	if got.Type != "k8s" || got.UpdateStatus != "pending" || got.TriggerMode != "auto" || got.Phase != "running" || len(got.BuildHistory) != 1 || got.BuildHistory[0].Mode != "image" {
		t.Errorf("web: %+v", got)
	}
	if diff := cmp.Diff([]string{"/src/web/x"}, got.PendingFiles); diff != "" {
		t.Errorf("pending files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]api.Forward{{LocalPort: 80, Address: "80", URL: "http://localhost:80/", Pod: "default/p:80", State: "ready"}}, got.PortForwards); diff != "" {
		t.Errorf("forwards (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"http://10.0.0.1"}, got.ServiceURLs); diff != "" || len(got.Pods) != 1 || !got.Pods[0].Ready {
		t.Errorf("services (-want +got):\n%s, pods %+v", diff, got.Pods)
	}
	if got := v.Resources[1]; got.Type != "local" || got.UpdateStatus != "error" || got.TriggerMode != "manual" || got.RuntimeStatus != "not_applicable" || got.BuildHistory[0].Error != "exit code 1" {
		t.Errorf("gen: %+v", got)
	}
	if got := v.Resources[3]; got.Type != "compose" || got.Status != "waiting" || got.UpdateStatus != "pending" || got.RuntimeStatus != "none" {
		t.Errorf("db: %+v", got)
	}
	want := &api.Waiting{Reason: "waiting-for-dep", On: []string{"web"}, Text: "waits for web to be ready"}
	if diff := cmp.Diff(want, v.Resources[2].Waiting); diff != "" || v.Resources[2].UpdateStatus != "pending" {
		t.Errorf("late: %+v (-want +got):\n%s", v.Resources[2], diff)
	}
}

// TestViewOfClusters checks the view of a session on two clusters, and that a session on one names none.
func TestViewOfClusters(t *testing.T) {
	s := statetest.New(statetest.Session, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("near"), statetest.K8s("far"))).Then(statetest.Connected()...)
	if v := View(s.View(), "1"); v.Clusters != nil || v.Resources[1].Cluster != "" {
		t.Errorf("one cluster: %+v", v)
	}
	s.Then(statetest.OnEu(statetest.Loaded(statetest.K8s("near"), statetest.K8s("far")), "far"), state.ClusterReported{On: statetest.Eu, Err: "no route to host"})
	v := View(s.View(), "1")
	if len(v.Clusters) != 2 || v.Clusters[1].Error != "no route to host" || v.ClusterError != "" || v.Context != "hone-dev" {
		t.Errorf("clusters %+v, error of its own %q", v.Clusters, v.ClusterError)
	}
	if near, far := v.Resources[0].Cluster, v.Resources[1].Cluster; near != "" || far != "eu" {
		t.Errorf("near is on %q, far on %q", near, far)
	}
}

func TestServesUntilStopped(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := statetest.Start(t, New(Options{TCP: l, Token: token, Version: "1"}))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	req, err := http.NewRequest(http.MethodGet, "http://"+l.Addr().String()+"/api/view", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	r, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/json" || !json.Valid(body) {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, body)
	}
	a.Stop()
	if _, err := client.Get("http://" + l.Addr().String() + "/api/view"); err == nil {
		t.Error("it still answers")
	}
}
