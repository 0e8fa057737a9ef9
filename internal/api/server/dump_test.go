package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// dumps are the routes that serve whole documents.
var dumps = []string{"/api/dump/engine", "/api/dump/logstore", "/api/snapshot"}

func (f *live) fetch(listener, path string) (int, []byte) {
	f.t.Helper()
	c, base := f.client(listener)
	r, _ := http.NewRequest("GET", base+path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, body
}

// TestDumps serves the whole session in each of the documents, without its secrets, while the loop is busy.
func TestDumps(t *testing.T) {
	const secret = "correct horse battery"
	f := serveLive(t)
	loaded := statetest.Loaded(statetest.K8s("web", statetest.Image("web")), statetest.K8s("r0001", statetest.Image("r0001")))
	loaded.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: secret}}
	f.Dispatch(statetest.Session, loaded)
	f.Until("the resources are there", func(v store.View) bool { return state.Resources.In(v).Len() == 2 })
	l := f.logs.Logger("web", "build:web:1", "build")
	l.Write(2, "password is "+secret+"\n")
	f.busy()
	for _, listener := range []string{"unix", "https"} {
		for _, path := range dumps {
			code, body := f.fetch(listener, path)
			if code != 200 || !json.Valid(body) {
				t.Errorf("%s %s: %d %.300s", listener, path, code, body)
			}
			if bytes.Contains(body, []byte(secret)) {
				t.Errorf("%s %s shows a secret", listener, path)
			}
		}
	}
	var engine api.EngineDump
	_, body := f.fetch("unix", "/api/dump/engine")
	if err := json.Unmarshal(body, &engine); err != nil || len(engine.Tables["resources"]) != 2 || len(engine.Controllers) == 0 || engine.Version != "1.2.3" {
		t.Errorf("%v: %d resources, %d controllers, version %s", err, len(engine.Tables["resources"]), len(engine.Controllers), engine.Version)
	}
	var logs api.LogDump
	_, body = f.fetch("unix", "/api/dump/logstore")
	if err := json.Unmarshal(body, &logs); err != nil || len(logs.Lines) != 1 || logs.Lines[0].Level != "warn" || logs.Lines[0].Resource != "web" {
		t.Errorf("%v: %s", err, body)
	}
	_, body = f.fetch("unix", "/api/snapshot")
	kept, err := snapshot.Read(bytes.NewReader(body), "the answer")
	if err != nil || len(kept.View.Resources) != 2 || !strings.Contains(kept.Logs[0].Text, "[redacted secret db:password]") {
		t.Errorf("%v: %.500s", err, body)
	}
	if v, err := snapshot.Restore(kept); err != nil || state.Resources.In(v).Len() != 2 {
		t.Error(err)
	}
	_, body = f.fetch("unix", "/api/snapshot?logs=false")
	if kept, err = snapshot.Read(bytes.NewReader(body), "the answer"); err != nil || len(kept.Tables["resources"]) != 2 || len(kept.Logs)+len(kept.Events) > 0 {
		t.Errorf("%v: %d log lines and %d events without logs", err, len(kept.Logs), len(kept.Events))
	}
	if status, body := f.fetch("unix", "/api/snapshot?logs=maybe"); status != 400 {
		t.Errorf("%d: %s", status, body)
	}
	f.alive()
}

// TestDumpIsNotCut ends the session while a client reads a dump slowly: the part that was read does not look complete.
func TestDumpIsNotCut(t *testing.T) {
	f := serveLive(t)
	f.declare(20)
	// The store keeps a few megabytes of each resource: those of one may fit into the buffers of the connection.
	for i := range 20 {
		l := f.logs.Logger(model.ManifestName(fmt.Sprintf("r%04d", i)), "span", "build")
		for range 5000 {
			l.Write(1, strings.Repeat("x", 250)+"\n")
		}
	}
	c, base := f.client("http")
	r, _ := http.NewRequest("GET", base+"/api/dump/logstore", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	f.Stop()
	if took := time.Since(began); took > stopTimeout+8*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if rest, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("%d more bytes, and a proper end", len(rest))
	}
}
