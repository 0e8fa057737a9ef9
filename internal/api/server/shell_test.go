package server

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestShellPlaces asks where shells can run. Only a client at the socket learns the environment of commands, which may be secret.
func TestShellPlaces(t *testing.T) {
	docs := statetest.Local("docs")
	docs.Local.Serve = model.Cmd{Argv: []string{"serve"}, Dir: "/src/docs", Env: []string{"TOKEN=hunter22"}}
	db := statetest.Pod("db", "shop-db-1", "c2", "db")
	db.Pod.Namespace, db.Pod.Engine = "", "running"
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.K8s("web"), statetest.Compose("db"), docs),
		state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev", Server: "https://127.0.0.1:6443"}, Connected: true},
		state.EngineReported{Connected: true, Host: "unix:///run/docker.sock"},
		statetest.Pod("web", "web-1", "c1", "web"), db)
	f.Until("the containers are there", func(v store.View) bool { return len(state.PodsOf(v, "db")) == 1 })
	main := func(namespace, pod, id string) []api.ShellContainer {
		return []api.ShellContainer{{Namespace: namespace, Pod: pod, Container: "main", ID: id, Kind: "ordinary", PodReady: true, Current: true}}
	}
	for _, tc := range []struct {
		over, query string
		want        api.Shell
	}{
		{"http", "resource=web", api.Shell{Resource: "web", Containers: main("default", "web-1", "c1"),
			Cluster: &api.ShellCluster{Context: "kind-dev", Server: "https://127.0.0.1:6443", Kubeconfig: "/home/dev/.kube/config"}}},
		{"http", "resource=db&container=main", api.Shell{Resource: "db", Containers: main("", "shop-db-1", "c2"), Engine: "unix:///run/docker.sock"}},
		{"unix", "resource=docs", api.Shell{Resource: "docs", Folder: &api.ShellFolder{Dir: "/src/docs", Env: []string{"HONE_SESSION=shop", "TOKEN=hunter22"}}}},
		{"http", "resource=docs", api.Shell{Resource: "docs", Folder: &api.ShellFolder{Dir: "/src/docs"}}},
	} {
		code, body := f.ask(tc.over, "GET", "/api/shell?"+tc.query, "")
		var got api.Shell
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 {
			t.Errorf("%s: %d %s", tc.query, code, body)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s over %s (-want +got):\n%s", tc.query, tc.over, diff)
		}
	}
	for query, want := range map[string]string{
		"resource=wbe":             `404 {"error":"no resource is called \"wbe\"","mend":"did you mean web?`,
		"resource=web&container=x": `404 {"error":"no running container of web is called \"x\""`,
		"":                         `400 {"error":"there are several resources: name one","mend":"there are: db, web"}`,
		"resource=docs&pod=x":      `409 {"error":"docs has no containers`,
	} {
		code, body := f.ask("unix", "GET", "/api/shell?"+query, "")
		if got := strings.Join([]string{strconv.Itoa(code), body}, " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
