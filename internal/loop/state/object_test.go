package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestObjectsFromOutside(t *testing.T) {
	cmd := func(script string) model.Command {
		return model.Command{Name: "c", Cmd: model.Cmd{Argv: []string{script}}}
	}
	outside := state.ObjectsDeclared{Buttons: []model.Button{{Name: "b", Text: "api"}}, Commands: []model.Command{cmd("api")},
		ConfigMaps: []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "api"}}}, FileWatches: []model.FileWatch{{Name: "w"}},
		ExtensionRepos: []model.ExtensionRepo{{Name: "r", URL: "api"}}, Extensions: []model.Extension{{Name: "e", Path: "api"}}}
	declares := statetest.Loaded()
	declares.Result.Buttons = []model.Button{{Name: "b", Text: "tiltfile"}}
	declares.Result.Commands = []model.Command{cmd("tiltfile")}
	declares.Result.ConfigMaps = []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "tiltfile"}}}
	declares.Result.ExtensionRepos = []model.ExtensionRepo{{Name: "r", URL: "tiltfile"}}
	declares.Result.Extensions = []model.Extension{{Name: "e", Path: "tiltfile"}}
	gone := state.ObjectsWithdrawn{ExtensionRepos: []string{"r"}, Extensions: []string{"e"}, Buttons: []string{"b"}, Commands: []string{"c"}, ConfigMaps: []string{"m"}, FileWatches: []string{"w"}}
	changed := state.ObjectsDeclared{ConfigMaps: []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "changed"}}}, Commands: []model.Command{cmd("changed")}}
	for _, tc := range []struct {
		name    string
		actions []store.Action
		want    string
	}{
		{"created", []store.Action{outside}, "b=api c=api m=api w r=api e=api"},
		{"survives the Tiltfile", []store.Action{outside, statetest.Loaded()}, "b=api c=api m=api w r=api e=api"},
		{"also one that wants the name", []store.Action{outside, declares}, "b=api c=api m=api w r=api e=api"},
		{"changed", []store.Action{outside, changed}, "b=api c=changed m=changed w r=api e=api"},
		{"deleted", []store.Action{outside, gone}, ""},
		{"the Tiltfile's are not changed but for the data of config maps", []store.Action{declares, outside}, "b=tiltfile c=tiltfile m=api w r=tiltfile e=tiltfile"},
		{"and those come back", []store.Action{declares, changed, declares}, "b=tiltfile c=tiltfile m=tiltfile r=tiltfile e=tiltfile"},
		{"the Tiltfile's are not deleted", []store.Action{declares, gone}, "b=tiltfile c=tiltfile m=tiltfile r=tiltfile e=tiltfile"},
		{"the name is free again", []store.Action{outside, gone, declares}, "b=tiltfile c=tiltfile m=tiltfile r=tiltfile e=tiltfile"},
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
			for e := range state.ExtensionRepos.In(v).Refs() {
				got = append(got, e.ID+"="+e.Value.URL)
			}
			for e := range state.Extensions.In(v).Refs() {
				got = append(got, e.ID+"="+e.Value.Path)
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("%s, want %s", s, tc.want)
			}
		})
	}
}

// TestACommandFromOutsideBeginsAnew checks that a command runs again if its work changes, and not if only its description does.
func TestACommandFromOutsideBeginsAnew(t *testing.T) {
	declare := func(argv, label string) state.ObjectsDeclared {
		return state.ObjectsDeclared{Commands: []model.Command{{Name: "c", Cmd: model.Cmd{Argv: []string{argv}},
			Meta: model.Meta{Labels: map[string]string{"l": label}}}}}
	}
	s := statetest.New(statetest.Session, declare("a", "1"))
	at := func() string { return fmt.Sprint(state.Commands.In(s.View()).Value("c").DeclaredAt) }
	first := at()
	if s.Then(declare("a", "2")); at() != first {
		t.Error("another label makes it start over")
	}
	if s.Then(declare("b", "2")); at() == first {
		t.Error("another command does not make it start over")
	}
}

func TestClash(t *testing.T) {
	v := statetest.New(statetest.Session, state.ObjectsDeclared{Buttons: []model.Button{{Name: "b"}}, Commands: []model.Command{{Name: "c"}},
		ConfigMaps: []model.ConfigMap{{Name: "m"}}, FileWatches: []model.FileWatch{{Name: "w"}},
		ExtensionRepos: []model.ExtensionRepo{{Name: "r"}}, Extensions: []model.Extension{{Name: "e"}}}).View()
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
		{model.APIObjects{ExtensionRepos: []model.ExtensionRepo{{Name: "r"}}}, `ExtensionRepo "r"`},
		{model.APIObjects{Extensions: []model.Extension{{Name: "e"}}}, `Extension "e"`},
	} {
		if got := state.Clash(v, tc.objects); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.objects, got, tc.want)
		}
	}
}

// TestExtensionsFromOutside has the Tiltfile evaluated again with the declared extensions, and without the withdrawn ones.
func TestExtensionsFromOutside(t *testing.T) {
	s := statetest.New(statetest.Session).Then(state.TiltfileStarted{}, statetest.Loaded())
	look := func(step, want string) {
		t.Helper()
		tf, given := state.TheTiltfile(s.View()), state.ForeignExtensions(s.View())
		if got := fmt.Sprintf("pending %t %s, %d repos, %d extensions", tf.Pending(), tf.Reason(), len(given.ExtensionRepos), len(given.Extensions)); got != want {
			t.Errorf("%s: %s, want %s", step, got, want)
		}
	}
	evaluated := func() {
		l := statetest.Loaded()
		l.At = s.View().At.Add(1)
		s.Then(state.TiltfileStarted{At: s.View().At}, l)
	}
	look("at first", "pending false Triggered, 0 repos, 0 extensions")
	s.Then(state.ObjectsDeclared{Buttons: []model.Button{{Name: "b"}}})
	look("with a button", "pending false Triggered, 0 repos, 0 extensions")
	s.Then(state.ObjectsDeclared{ExtensionRepos: []model.ExtensionRepo{{Name: "r"}}})
	look("with a repository", "pending true Extensions Changed, 1 repos, 0 extensions")
	evaluated()
	look("evaluated", "pending false Triggered, 1 repos, 0 extensions")
	s.Then(state.ObjectsDeclared{Extensions: []model.Extension{{Name: "e"}}})
	look("with an extension", "pending true Extensions Changed, 1 repos, 1 extensions")
	evaluated()
	s.Then(state.ObjectsWithdrawn{Extensions: []string{"e"}})
	look("without it", "pending true Extensions Changed, 1 repos, 0 extensions")
}
