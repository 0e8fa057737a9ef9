package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/state/statetest"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestObjectsFromOutside(t *testing.T) {
	cmd := func(script string) model.Command {
		return model.Command{Name: "c", Cmd: model.Cmd{Argv: []string{script}}}
	}
	outside := state.ObjectsDeclared{Buttons: []model.Button{{Name: "b", Text: "api"}}, Commands: []model.Command{cmd("api")},
		ConfigMaps: []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "api"}}}, FileWatches: []model.FileWatch{{Name: "w"}}}
	declares := statetest.Loaded()
	declares.Result.Buttons = []model.Button{{Name: "b", Text: "tiltfile"}}
	declares.Result.Commands = []model.Command{cmd("tiltfile")}
	declares.Result.ConfigMaps = []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "tiltfile"}}}
	gone := state.ObjectsWithdrawn{Buttons: []string{"b"}, Commands: []string{"c"}, ConfigMaps: []string{"m"}, FileWatches: []string{"w"}}
	changed := state.ObjectsDeclared{ConfigMaps: []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "changed"}}}, Commands: []model.Command{cmd("changed")}}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
	}{
		{"created", []store.Action{outside}, "b=api c=api m=api w"},
		{"survives the Tiltfile", []store.Action{outside, statetest.Loaded()}, "b=api c=api m=api w"},
		{"also one that wants the name", []store.Action{outside, declares}, "b=api c=api m=api w"},
		{"changed", []store.Action{outside, changed}, "b=api c=changed m=changed w"},
		{"deleted", []store.Action{outside, gone}, ""},
		{"the Tiltfile's are not changed but for the data of config maps", []store.Action{declares, outside}, "b=tiltfile c=tiltfile m=api w"},
		{"and those come back", []store.Action{declares, changed, declares}, "b=tiltfile c=tiltfile m=tiltfile"},
		{"the Tiltfile's are not deleted", []store.Action{declares, gone}, "b=tiltfile c=tiltfile m=tiltfile"},
		{"the name is free again", []store.Action{outside, gone, declares}, "b=tiltfile c=tiltfile m=tiltfile"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := statetest.New(statetest.Session).Then(tc.actions...).View()
			var got []string
			for e := range state.Buttons.In(v).Refs() {
				got = append(got, e.ID+"="+e.Value.Text)
			}
			for e := range state.Commands.In(v).Refs() {
				got = append(got, e.ID+"="+e.Value.Cmd.Argv[0])
			}
			for e := range state.ConfigMaps.In(v).Refs() {
				got = append(got, e.ID+"="+e.Value.Data["k"])
			}
			for e := range state.FileWatches.In(v).Refs() {
				got = append(got, e.ID)
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

// TestACommandFromOutsideBeginsAnew runs again when it is to do something else, not when it is only described otherwise.
func TestACommandFromOutsideBeginsAnew(t *testing.T) {
	declare := func(argv, label string) state.ObjectsDeclared {
		return state.ObjectsDeclared{Commands: []model.Command{{Name: "c", Cmd: model.Cmd{Argv: []string{argv}},
			Meta: model.Meta{Labels: map[string]string{"l": label}}}}}
	}
	s := statetest.New(statetest.Session, declare("a", "1"))
	at := func() string { return fmt.Sprint(state.Commands.In(s.View()).Value("c").DeclaredAt) }
	first := at()
	if s.Then(declare("a", "2")); at() != first {
		t.Error("another label makes it begin anew")
	}
	if s.Then(declare("b", "2")); at() == first {
		t.Error("another command does not make it begin anew")
	}
}

func TestClash(t *testing.T) {
	v := statetest.New(statetest.Session, state.ObjectsDeclared{Buttons: []model.Button{{Name: "b"}}, Commands: []model.Command{{Name: "c"}},
		ConfigMaps: []model.ConfigMap{{Name: "m"}}, FileWatches: []model.FileWatch{{Name: "w"}}}).View()
	for _, tc := range []struct {
		objects model.APIObjects
		want    string
	}{
		{model.APIObjects{}, ""},
		{model.APIObjects{Buttons: []model.Button{{Name: "c"}}}, ""},
		{model.APIObjects{Buttons: []model.Button{{Name: "b"}}}, `UIButton "b"`},
		{model.APIObjects{Commands: []model.Command{{Name: "c"}}}, `Cmd "c"`},
		{model.APIObjects{FileWatches: []model.FileWatch{{Name: "w"}}}, `FileWatch "w"`},
		{model.APIObjects{ConfigMaps: []model.ConfigMap{{Name: "m"}}}, `ConfigMap "m"`},
	} {
		if got := state.Clash(v, tc.objects); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.objects, got, tc.want)
		}
	}
}
