package server

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestWishes requests rebuilds, restarts, trigger modes, restoring and keeping the changes of others, pauses and port
// forwards, one after another.
func TestWishes(t *testing.T) {
	f := serveLive(t)
	srv := statetest.Local("srv")
	srv.Local.Serve = model.Cmd{Argv: []string{"serve"}}
	web := statetest.K8s("web")
	web.K8s.PortForwards = []model.PortForward{{LocalPort: 8080, ContainerPort: 80}}
	f.Dispatch(statetest.Session, statetest.Loaded(srv, web), state.ProcessChanged{Process: state.Process{Resource: "srv", State: state.ProcessRunning}})
	f.Until("the process runs", func(v store.View) bool { return state.Processes.In(v).Value("srv").State == state.ProcessRunning })
	forwards := func() string {
		var out []string
		for _, p := range state.Resources.In(f.Store.Snapshot().All()).Value("web").Manifest.K8s.PortForwards {
			out = append(out, p.Address())
		}
		return strings.Join(out, " ")
	}
	for _, tc := range []struct {
		name, path, body string
		code             int
		answer           string
		is               func() bool
	}{
		{"rebuild", "/api/trigger", `{"manifest_names":["web"],"no_cache":true}`, 200, "{}",
			func() bool { return !state.Updates.In(f.Store.Snapshot().All()).Value("web").Rebuild.IsZero() }},
		{"restart", "/api/restart", `{"manifest_names":["srv"]}`, 200, "{}", func() bool {
			r := state.Restarts.In(f.Store.Snapshot().All()).Value("srv")
			return r.Serial == 1 && !r.Pods
		}},
		{"restart pods", "/api/restart", `{"manifest_names":["srv"],"pods":true}`, 200, "{}",
			func() bool { return state.Restarts.In(f.Store.Snapshot().All()).Value("srv").Pods }},
		{"restart what is not there", "/api/restart", `{"manifest_names":["web"],"pods":true}`, 409, `"mend":"`, nil},
		{"trigger mode", "/api/mode", `{"manifest_names":["web","srv"],"mode":"manual"}`, 200, "{}", func() bool {
			return state.Resources.In(f.Store.Snapshot().All()).Value("web").Manifest.TriggerMode == model.TriggerManual
		}},
		{"a mode that is none", "/api/mode", `{"manifest_names":["web"],"mode":"often"}`, 400, "neither auto nor manual", nil},
		{"the mode of the Tiltfile", "/api/mode", `{"manifest_names":["(Tiltfile)"],"mode":"auto"}`, 409, `"mend":"`, nil},
		{"restore what has not drifted", "/api/restore", `{"manifest_names":["web"]}`, 409, `"error":"`, nil},
		{"drift", "", "", 0, "", func() bool {
			f.Dispatch(state.ResourceDrifted{Resource: "web", Objects: []state.ObjectDrift{{Object: model.ObjectID{Kind: "Service", Name: "web"}, What: state.DriftChanged,
				Fields: []api.FieldChange{{Path: "spec.type", Class: api.ChangeDrift, Manager: "kubectl-edit"}}}}})
			f.Until("it has drifted", func(v store.View) bool { return state.Drifts.In(v).Value("web").Text() == "changed by kubectl-edit" })
			return true
		}},
		{"accept", "/api/accept", `{"manifest_names":["web"]}`, 200, "{}", func() bool { return len(state.Drifts.In(f.Store.Snapshot().All()).Value("web").Accept) == 1 }},
		{"restore", "/api/restore", `{"manifest_names":["web"]}`, 200, "{}", nil},
		{"adopt", "/api/adopt", `{"manifest_names":["web"]}`, 200, "{}", nil},
		{"adopt without objects", "/api/adopt", `{"manifest_names":["srv"]}`, 409, "declares no objects", nil},
		{"prune nothing", "/api/prune", "{}", 409, `"error":"`, nil},
		{"pause", "/api/pause", `{"paused":true}`, 200, `{"changed":true,"waiting":{"resources":[],"files":0,"tiltfileFiles":0}}`,
			func() bool { return state.TheSession(f.Store.Snapshot().All()).Paused() }},
		{"pause again", "/api/pause", `{"paused":true}`, 200, `{"changed":false,"waiting":{"since":"`, nil},
		{"resume", "/api/pause", `{"paused":false}`, 200, `{"changed":true,`, func() bool { return !state.TheSession(f.Store.Snapshot().All()).Paused() }},
		{"add a forward", "/api/forwards", `{"manifest_name":"web","add":"127.0.0.2:9090:90"}`, 200, "{}", func() bool { return forwards() == "8080 127.0.0.2:9090" }},
		{"change a forward", "/api/forwards", `{"manifest_name":"web","remove":"8080","add":"8081"}`, 200, "{}", func() bool { return forwards() == "127.0.0.2:9090 8081" }},
		{"remove a forward", "/api/forwards", `{"manifest_name":"web","remove":"127.0.0.2:9090"}`, 200, "{}", func() bool { return forwards() == "8081" }},
		{"a forward that is none", "/api/forwards", `{"manifest_name":"web","add":"80:80:80:x"}`, 400, "is neither the name of a host", func() bool { return forwards() == "8081" }},
		{"a change of more than the port", "/api/forwards", `{"manifest_name":"web","remove":"8081","add":"8082:90"}`, 400, "takes only a new local port", func() bool { return forwards() == "8081" }},
		{"neither", "/api/forwards", `{"manifest_name":"web"}`, 400, "must specify a port forward", nil},
		{"of a local resource", "/api/forwards", `{"manifest_name":"srv","add":"8080"}`, 409, "runs on this machine", nil},
	} {
		if tc.path != "" {
			if code, body := f.ask("http", "POST", tc.path, tc.body); code != tc.code || !strings.Contains(body, tc.answer) {
				t.Errorf("%s: %d %s, want %d %s", tc.name, code, body, tc.code, tc.answer)
			}
		}
		if tc.is != nil && !tc.is() {
			t.Errorf("%s: not so; forwards %s", tc.name, forwards())
		}
	}
}
