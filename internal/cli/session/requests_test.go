package session

import (
	"encoding/json"
	"testing"

	"github.com/hone-dev/hone/internal/hud"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRequests turns each action that a screen can ask for into a request of the API.
func TestRequests(t *testing.T) {
	names := []model.ManifestName{"api", "web"}
	loaded := statetest.Loaded(statetest.K8s("api"), statetest.K8s("web"))
	loaded.Result.Buttons = []model.Button{{Name: "seed", Inputs: []model.Input{{Name: "token", Kind: model.InputHidden, Default: "[hidden]"}, {Name: "rows", Kind: model.InputText, Default: "7"}}}}
	v := statetest.New(statetest.Session, state.TiltfileStarted{}, loaded).View()
	asked := map[store.ActionType]bool{store.TypeOf(state.ScreenOpened{}): true, store.TypeOf(state.ScreenMoved{}): true, store.TypeOf(state.ScreenClosed{}): true}
	for _, tt := range []struct {
		action     store.Action
		path, body string
	}{
		{state.ResourcesTriggered{Names: names}, "/api/trigger", `{"manifest_names":["api","web"]}`},
		{state.ResourcesTriggered{Names: names[:1], Rebuild: true}, "/api/trigger", `{"manifest_names":["api"],"no_cache":true}`},
		{state.ResourcesTriggered{Names: names[:1], Adopt: true}, "/api/adopt", `{"manifest_names":["api"]}`},
		{state.ResourcesSwitched{On: names}, "/api/switch", `{"state":"enabled","manifest_names":["api","web"]}`},
		{state.ResourcesSwitched{Off: names}, "/api/switch", `{"state":"disabled","manifest_names":["api","web"]}`},
		{state.TriggerModeChosen{Names: names, Mode: model.TriggerManual}, "/api/mode", `{"manifest_names":["api","web"],"mode":"manual"}`},
		{state.TriggerModeChosen{Names: names, Mode: model.TriggerAuto}, "/api/mode", `{"manifest_names":["api","web"],"mode":"auto"}`},
		{state.ButtonClicked{Button: "seed", Inputs: map[string]string{"token": "[hidden]", "rows": "8"}}, "/api/click", `{"button":"seed","inputs":{"rows":"8"}}`},
		{state.TiltfileArgsSet{Args: []string{"a", "b"}}, "/api/set_tiltfile_args", `["a","b"]`},
		{state.TiltfileArgsSet{}, "/api/set_tiltfile_args", `[]`},
		{state.ResourcesRestarted{Names: names, Pods: true}, "/api/restart", `{"manifest_names":["api","web"],"pods":true}`},
		{state.SessionPaused{}, "/api/pause", `{"paused":true}`},
		{state.SessionResumed{}, "/api/pause", `{"paused":false}`},
		{state.ForwardsChosen{Resource: "api", Added: []model.PortForward{{LocalPort: 9000, ContainerPort: 80, Host: "127.0.0.2"}}}, "/api/forwards", `{"manifest_name":"api","add":"127.0.0.2:9000:80"}`},
		{state.ForwardsChosen{Resource: "api", Added: []model.PortForward{{LocalPort: 9000}}}, "/api/forwards", `{"manifest_name":"api","add":"9000"}`},
		{state.ForwardsChosen{Resource: "api", Removed: []model.PortForward{{LocalPort: 9000, Host: "::1"}}}, "/api/forwards", `{"manifest_name":"api","remove":"[::1]:9000"}`},
		{state.ForwardsChosen{Resource: "api", Removed: []model.PortForward{{LocalPort: 9000}}, Added: []model.PortForward{{LocalPort: 9001, ContainerPort: 80}}}, "/api/forwards", `{"manifest_name":"api","remove":"9000","add":"9001"}`},
		{state.PruneAllowed{}, "/api/prune", `{}`},
		{state.ResourcesRestored{Names: names}, "/api/restore", `{"manifest_names":["api","web"]}`},
		{state.DriftAccepted{Fields: map[model.ManifestName][]state.AcceptedFields{"web": nil, "api": nil}}, "/api/accept", `{"manifest_names":["api","web"]}`},
		{state.ChangesConfirmed{Names: names}, "/api/confirm", `{"evaluation":1}`},
	} {
		path, body := requestOf(v, tt.action)
		text, err := json.Marshal(body)
		if err != nil || path != tt.path || string(text) != tt.body {
			t.Errorf("%T: %s %s, want %s %s", tt.action, path, text, tt.path, tt.body)
		}
		asked[store.TypeOf(tt.action)] = true
	}
	for _, o := range hud.New(hud.Options{}).Contract().Outputs {
		if !asked[o.Action] {
			t.Errorf("no request asks for %s", o.Action)
		}
	}
}
