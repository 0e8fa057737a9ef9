package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestLogsOfUnknownResources names resources that exist, that existed, and that never existed.
func TestLogsOfUnknownResources(t *testing.T) {
	f := withLogs(t, 2)
	ask := func(name string) (int, api.Failure) {
		var failure api.Failure
		code, body := f.ask("unix", "GET", "/api/logs?resource="+name, "")
		_ = json.Unmarshal([]byte(body), &failure)
		return code, failure
	}
	f.Dispatch(statetest.Session)
	f.Until("the session has begun", func(v store.View) bool { return state.TheSession(v).Tiltfile != "" })
	if code, failure := ask("later"); code != 200 {
		t.Errorf("before the Tiltfile was evaluated: %d %+v", code, failure)
	}
	off := labelled("off")
	f.Dispatch(statetest.Loaded(statetest.Local("front"), off), state.ResourcesSwitched{Off: []model.ManifestName{"off"}})
	f.Until("the Tiltfile is there", func(v store.View) bool { return positions(v) == "front+ off-" })
	for _, name := range []string{"front", "off", "(Tiltfile)", "web" /* of which lines are left */, "front,web"} {
		if code, failure := ask(name); code != 200 {
			t.Errorf("%s: %d %+v", name, code, failure)
		}
	}
	code, failure := ask("front,fornt")
	want := api.Failure{Error: `no resource is called "fornt"`, Mend: "did you mean front? there are: (Tiltfile), front, off"}
	if diff := cmp.Diff(want, failure); code != 404 || diff != "" {
		t.Errorf("%d (-want +got):\n%s", code, diff)
	}
}

// TestLogsOfASlowReader stops a client while more lines are logged than are kept. The client receives the lines that were on
// their way, then the exact number of missing lines, then the rest.
func TestLogsOfASlowReader(t *testing.T) {
	f := serveLive(t)
	const lines = 3000
	l := f.logs.Logger("web", "s", logstore.SourceRuntime)
	l.Write(logstore.LevelInfo, "first\n")
	c, base := f.client("unix")
	resp, err := c.Get(base + "/api/logs?follow=true&format=json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	next := func() (l api.LogLine) {
		t.Helper()
		raw, err := in.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(raw, &l)
		}
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if got := next(); got.Text != "first" {
		t.Fatalf("%+v", got)
	}
	long := strings.Repeat("x", 8000) // so that the buffers of both ends cannot hold everything
	for i := range lines {
		l.Write(logstore.LevelInfo, fmt.Sprintf("%d %s\n", i, long))
	}
	skipped := 0
	for want := 0; want < lines; {
		got := next()
		if got.Skipped > 0 {
			skipped += int(got.Skipped)
			want += int(got.Skipped)
			continue
		}
		if !strings.HasPrefix(got.Text, fmt.Sprintf("%d x", want)) {
			t.Fatalf("%.20s, want %d", got.Text, want)
		}
		want++
	}
	if skipped == 0 {
		t.Error("nothing is missing, so the test proves nothing")
	}
}
