package server

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSetArgs sets arguments several times. Each answer comes when they are set.
func TestSetArgs(t *testing.T) {
	f := serveLive(t)
	loaded := statetest.Loaded(statetest.Local("a"))
	loaded.Result.Secrets = []model.Secret{{Name: "db", Key: "password", Value: "hunter22"}}
	f.Dispatch(statetest.Session, loaded)
	f.Until("the Tiltfile is there", func(v store.View) bool { return state.TheTiltfile(v).Good })
	for _, tc := range []struct {
		name, body string
		code       int
		want       []string
	}{
		{"new ones", `["web","--key","hunter22"]`, 200, []string{"web", "--key", "hunter22"}},
		{"one that comes back redacted", `["api","--key","[redacted secret db:password]"]`, 200, []string{"api", "--key", "hunter22"}},
		{"one that was never there", `["[redacted secret db:password]"]`, 400, []string{"api", "--key", "hunter22"}},
		{"no list", `{"args":["x"]}`, 400, []string{"api", "--key", "hunter22"}},
		{"none", `[]`, 200, nil},
		{"with spaces", `["a b", ""]`, 200, []string{"a b", ""}},
		{"null", `null`, 200, nil},
	} {
		code, body := f.ask("http", "POST", "/api/set_tiltfile_args", tc.body)
		v := f.Store.Snapshot().All()
		if got := state.TheSession(v).Args; code != tc.code || fmt.Sprint(len(got), got) != fmt.Sprint(len(tc.want), tc.want) {
			t.Errorf("%s: %d %s, %q, want %q", tc.name, code, body, got, tc.want)
		}
		if state.TheTiltfile(v).Triggered.IsZero() {
			t.Errorf("%s: the Tiltfile is not evaluated", tc.name)
		}
	}
	writes := f.writes()
	if code, _ := f.ask("http", "POST", "/api/set_tiltfile_args", `[]`); code != 200 || f.writes() != writes {
		t.Errorf("%d, the same arguments are set again", code)
	}
}
