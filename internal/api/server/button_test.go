package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// withButtons is an evaluation that declares buttons and a command.
func withButtons() state.TiltfileLoaded {
	a := statetest.Loaded()
	a.Result.ConfigMaps = []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "true"}}}
	a.Result.Buttons = []model.Button{
		{Name: "seed", Text: "Seed", Place: model.ButtonPlace{Type: model.ComponentResource, Component: "db"}, IconName: "storage", RequiresConfirmation: true,
			Inputs: []model.Input{
				{Name: "SHARD", Label: "Shard", Kind: model.InputText, Default: "main", Placeholder: "which?"},
				{Name: "DRY", Kind: model.InputBool, True: "--dry-run", On: true, Default: "--dry-run"},
				{Name: "SIZE", Kind: model.InputChoice, Choices: []string{"s", "l"}, Default: "s"},
				{Name: "TOKEN", Kind: model.InputHidden, Default: "secret"},
			}},
		{Name: "nav", Text: "Nav", Place: model.ButtonPlace{Type: model.ComponentGlobal, Component: "nav"}, Disabled: true},
	}
	a.Result.Commands = []model.Command{
		{Name: "seeds", Cmd: model.Cmd{Argv: []string{"x"}}, StartOn: &model.Triggers{Buttons: []string{"seed"}}},
		{Name: "off", Cmd: model.Cmd{Argv: []string{"x"}}, Disable: model.DisableSource{Keys: []model.ConfigMapKey{{ConfigMap: "m", Key: "k"}}}},
	}
	return a
}

func TestClick(t *testing.T) {
	full := map[string]string{"SHARD": "b", "DRY": "", "SIZE": "l", "TOKEN": "secret"}
	for _, tc := range []struct {
		name, body string
		code       int
		answer     string
		inputs     map[string]string
	}{
		{"defaults", `{"button":"seed"}`, 200, "{}", map[string]string{"SHARD": "main", "DRY": "--dry-run", "SIZE": "s", "TOKEN": "secret"}},
		{"inputs", `{"button":"seed","inputs":{"SHARD":"b","DRY":false,"SIZE":"l"}}`, 200, "{}", full},
		{"a wrong input", `{"button":"seed","inputs":{"SIZE":"m"}}`, 400, "takes one of s, l", nil},
		{"a number", `{"button":"seed","inputs":{"SHARD":1}}`, 400, "takes text", nil},
		{"an unknown input", `{"button":"seed","inputs":{"PATH":"/"}}`, 400, "does not exist", nil},
		{"a fixed input", `{"button":"seed","inputs":{"TOKEN":"x"}}`, 400, "fixed by the Tiltfile", nil},
		{"a disabled button", `{"button":"nav"}`, 409, "is disabled", nil},
		{"an unknown button", `{"button":"x"}`, 404, `no button is called \"x\"","mend":"there are: seed, nav"`, nil},
		{"no button", `{}`, 404, "no button is called", nil},
		{"no JSON", `seed`, 400, "read the request", nil},
		{"too long", `{"button":"` + strings.Repeat("a", maxBody) + `"}`, 413, "too large", nil},
	} {
		f := newFixture(statetest.Session, withButtons())
		code, body := f.do(request("POST", "/api/click", tc.body))
		f.store.Step()
		b := state.Buttons.In(f.store.Snapshot().All()).Value("seed")
		if code != tc.code || !strings.Contains(body, tc.answer) || (b.Clicks == 1) != (tc.inputs != nil) {
			t.Errorf("%s: %d %s, %d clicks", tc.name, code, body, b.Clicks)
		}
		if diff := cmp.Diff(tc.inputs, b.Click.Inputs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	f := newFixture(statetest.Session)
	if code, body := f.do(request("POST", "/api/click", `{"button":"x"}`)); code != 404 || !strings.Contains(body, "declares no buttons") {
		t.Errorf("%d %s", code, body)
	}
}

// TestClickIsGuarded checks that a foreign page cannot click.
func TestClickIsGuarded(t *testing.T) {
	for header, value := range map[string]string{"Origin": "https://evil.example", "Content-Type": "text/plain"} {
		f := newFixture(statetest.Session, withButtons())
		r := request("POST", "/api/click", `{"button":"seed"}`)
		r.Header.Set(header, value)
		code, _ := f.do(r)
		f.store.Step()
		if clicks := state.Buttons.In(f.store.Snapshot().All()).Value("seed").Clicks; code < 400 || clicks != 0 {
			t.Errorf("%s %s: %d, %d clicks", header, value, code, clicks)
		}
	}
}

func TestButtonsInView(t *testing.T) {
	f := newFixture(statetest.Session, withButtons(), state.ButtonClicked{Button: "seed"}, state.CommandStarted{Name: "seeds"},
		state.CommandEnded{Name: "seeds", ExitCode: 3, Err: "exit code 3"})
	_, body := f.do(request("GET", "/api/view", ""))
	var v api.View
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(body, "secret") {
		t.Error("the view shows the values of hidden inputs")
	}
	if len(v.Buttons) != 2 || v.Buttons[0].LastClickedAt.IsZero() || !v.Buttons[1].LastClickedAt.IsZero() || len(v.Commands) != 2 || v.Commands[0].EndedAt.IsZero() {
		t.Fatalf("%+v %+v", v.Buttons, v.Commands)
	}
	v.Buttons[0].LastClickedAt, v.Commands[0].StartedAt, v.Commands[0].EndedAt = time.Time{}, time.Time{}, time.Time{}
	wantButtons := []api.Button{
		{Name: "seed", Text: "Seed", ComponentType: "Resource", ComponentID: "db", IconName: "storage", RequiresConfirmation: true, Clicks: 1, Inputs: []api.Input{
			{Name: "SHARD", Label: "Shard", Type: "text", Default: "main", Placeholder: "which?"},
			{Name: "DRY", Type: "bool", Default: "true"},
			{Name: "SIZE", Type: "choice", Default: "s", Choices: []string{"s", "l"}},
			{Name: "TOKEN", Type: "hidden"},
		}},
		{Name: "nav", Text: "Nav", ComponentType: "Global", ComponentID: "nav", Disabled: true},
	}
	if diff := cmp.Diff(wantButtons, v.Buttons); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	wantCommands := []api.Command{
		{Name: "seeds", State: "failed", Runs: 1, ExitCode: 3, Error: "exit code 3"},
		{Name: "off", State: "waiting", Disabled: true},
	}
	if diff := cmp.Diff(wantCommands, v.Commands); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// TestEnded checks that requests to a session whose loop has ended are refused.
func TestEnded(t *testing.T) {
	f := newFixture(statetest.Session, withButtons())
	over, end := context.WithCancel(t.Context())
	end()
	f.store.Run(over)
	for path, body := range map[string]string{"/api/trigger": `{"manifest_names":["(Tiltfile)"]}`, "/api/click": `{"button":"seed"}`,
		"/api/set_tiltfile_args": `["x"]`} {
		code, answer := f.do(request("POST", path, body))
		if code != 503 || !strings.Contains(answer, `{"error":"the session has ended","mend":"hone up starts it again`) {
			t.Errorf("%s: %d %s", path, code, answer)
		}
	}
}
