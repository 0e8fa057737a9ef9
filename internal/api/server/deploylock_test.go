package server

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
)

// TestTurn waits for the running updates, says which they are, and ends with the connection.
func TestTurn(t *testing.T) {
	f := serveLive(t)
	f.Dispatch(statetest.Session, statetest.Loaded(statetest.Local("a"), statetest.Local("b")),
		state.BuildStarted{Resource: "a", Serial: 1}, state.BuildStarted{Resource: "b", Serial: 2})
	f.Until("both are updated", func(v store.View) bool { return len(updating(v)) == 2 })
	if code, body := f.ask("unix", "POST", "/api/turn", `{}`); code != http.StatusBadRequest || !strings.Contains(body, "by: say who") {
		t.Errorf("without a name: %d %s", code, body)
	}

	c, base := f.client("unix")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/turn", strings.NewReader(`{"by":"hone ci (pid 42)"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(resp.Body)
	says := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, %v; want %s", lines.Text(), lines.Err(), want)
		}
	}
	says(`{"waitsFor":["a","b"]}`)
	f.Dispatch(state.BuildCompleted{Resource: "a", Serial: 1})
	says(`{"waitsFor":["b"]}`)
	f.Dispatch(state.BuildCompleted{Resource: "b", Serial: 2})
	says(`{"granted":true}`)
	if turns := state.TheSession(f.Store.Snapshot().All()).DeployLocks; len(turns) != 1 || turns[0].By != "hone ci (pid 42)" || turns[0].Since.IsZero() {
		t.Errorf("turns: %+v", turns)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	f.Until("the turn ends with the connection", func(v store.View) bool { return len(state.TheSession(v).DeployLocks) == 0 })
}
