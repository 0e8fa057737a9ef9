package state_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// declared is an evaluation that declares objects of the API.
func declared(o model.APIObjects) state.TiltfileLoaded {
	a := statetest.Loaded()
	a.Result.APIObjects = o
	return a
}

func command(name string, argv ...string) model.Command {
	return model.Command{Name: name, Cmd: model.Cmd{Argv: argv}}
}

func TestButtons(t *testing.T) {
	one, two := model.Button{Name: "one", Text: "One"}, model.Button{Name: "two", Text: "Two", Disabled: true}
	s := statetest.New(statetest.Session, declared(model.APIObjects{Buttons: []model.Button{two, one}}))
	s.Then(state.ButtonClicked{Button: "one", Inputs: map[string]string{"A": "1"}}, state.ButtonClicked{Button: "two"}, state.ButtonClicked{Button: "none"})
	all := state.ButtonsInOrder(s.View())
	if len(all) != 2 || all[0].Name != "two" || all[0].Clicks != 0 || all[1].Clicks != 1 || all[1].Click.Inputs["A"] != "1" || all[1].Click.At.IsZero() {
		t.Errorf("%+v", all)
	}
	before := state.Buttons.In(s.View()).Ref("one")
	s.Then(declared(model.APIObjects{Buttons: []model.Button{two, one}}))
	if after := state.Buttons.In(s.View()).Ref("one"); after.Version != before.Version || after.Owner != "TiltfileLoader" {
		t.Errorf("declared again without a change: %+v", after.Meta)
	}
	one.Text = "First"
	s.Then(declared(model.APIObjects{Buttons: []model.Button{one}}))
	if all = state.ButtonsInOrder(s.View()); len(all) != 1 || all[0].Text != "First" || all[0].Clicks != 1 {
		t.Errorf("%+v", all)
	}
	failed := declared(model.APIObjects{})
	failed.Err = "no"
	s.Then(failed)
	if len(state.ButtonsInOrder(s.View())) != 1 {
		t.Error("a failed evaluation takes the buttons away")
	}
}

func TestFileWatchesAndSwitches(t *testing.T) {
	off := model.DisableSource{Keys: []model.ConfigMapKey{{ConfigMap: "m", Key: "k"}}}
	o := model.APIObjects{FileWatches: []model.FileWatch{{Name: "w", Disable: off}}, ConfigMaps: []model.ConfigMap{{Name: "m", Data: map[string]string{"k": "true"}}}}
	s := statetest.New(statetest.Session, declared(o))
	s.Then(state.FilesChanged{Changes: []state.FileChange{
		{Target: model.TargetID{Type: model.TargetFileWatch, Name: "w"}, Paths: []string{"/a"}},
		{Target: model.TargetID{Type: model.TargetFileWatch, Name: "gone"}, Paths: []string{"/b"}},
		{Target: model.ImageID("w"), Paths: []string{"/c"}},
	}})
	w := state.FileWatches.In(s.View()).Value("w")
	if w.Changes != 1 || !cmp.Equal(w.Files, []string{"/a"}) || w.ChangedAt.IsZero() || state.FileWatches.In(s.View()).Len() != 1 {
		t.Errorf("%+v", w)
	}
	if !state.Off(s.View(), off) || state.Off(s.View(), model.DisableSource{}) {
		t.Error("switches")
	}
	o.ConfigMaps = nil
	s.Then(declared(o))
	if state.Off(s.View(), off) || state.FileWatches.In(s.View()).Value("w").Changes != 1 {
		t.Error("after the config map is gone")
	}
}

func TestCommandRuns(t *testing.T) {
	s := statetest.New(statetest.Session, declared(model.APIObjects{Commands: []model.Command{command("b", "x"), command("a", "y")}}))
	all := state.CommandsInOrder(s.View())
	if len(all) != 2 || all[0].Name != "b" || all[0].State != state.CommandWaiting || all[0].DeclaredAt.IsZero() {
		t.Fatalf("%+v", all)
	}
	cause := s.Now
	s.Then(state.CommandStarted{Name: "a", Cause: cause, Span: "s"}, state.CommandReported{Name: "a", PID: 7, Ready: true})
	get := func() state.DeclaredCommand { return state.Commands.In(s.View()).Value("a") }
	if c := get(); c.State != state.CommandRunning || c.PID != 7 || !c.Ready || c.Runs != 1 || !c.Cause.Equal(cause) || c.Span != "s" || c.StartedAt.IsZero() {
		t.Errorf("%+v", c)
	}
	s.Then(state.CommandEnded{Name: "a", ExitCode: 3, Err: "exit code 3"})
	if c := get(); c.State != state.CommandFailed || c.PID != 0 || c.Ready || c.ExitCode != 3 || c.Err == "" || c.EndedAt.IsZero() {
		t.Errorf("%+v", c)
	}
	s.Then(state.CommandStarted{Name: "a"}, state.CommandEnded{Name: "a"})
	if c := get(); c.State != state.CommandSucceeded || c.Err != "" || c.Runs != 2 {
		t.Errorf("%+v", c)
	}
	s.Then(state.CommandStarted{Name: "a"}, state.CommandEnded{Name: "a", Stopped: true}, state.CommandStarted{Name: "none"})
	if c := get(); c.State != state.CommandStopped {
		t.Errorf("%+v", c)
	}
}

func TestCommandsRedeclared(t *testing.T) {
	one := declared(model.APIObjects{Commands: []model.Command{command("a", "x")}})
	s := statetest.New(statetest.Session, one, state.CommandStarted{Name: "a"})
	at := state.Commands.In(s.View()).Value("a").DeclaredAt
	labelled := command("a", "x")
	labelled.Labels = map[string]string{"l": "v"}
	s.Then(declared(model.APIObjects{Commands: []model.Command{labelled}}))
	e := state.Commands.In(s.View()).Ref("a")
	if !e.Value.DeclaredAt.Equal(at) || e.Value.State != state.CommandRunning || e.Labels["l"] != "v" {
		t.Errorf("the same work: %+v", e)
	}
	s.Then(declared(model.APIObjects{Commands: []model.Command{command("a", "y")}}))
	if c := state.Commands.In(s.View()).Value("a"); !c.DeclaredAt.After(at) || c.Runs != 1 {
		t.Errorf("other work: %+v", c)
	}
}

// holding is a state in which a subscriber holds commands.
type holding struct{ *store.Store }

func newHolding() holding {
	s := store.New(state.Schema, store.WithClock(func() time.Time { return statetest.Epoch }))
	store.NewRuntime(s, commandHolder{})
	return holding{s}
}

func (h holding) then(actions ...store.Action) store.Rows[state.DeclaredCommand] {
	for _, a := range actions {
		h.Dispatch(a)
		h.Step()
	}
	return state.Commands.In(h.Snapshot().All())
}

var release = store.FinalizerReleased{Table: "commands", ID: "a", Finalizer: "Holder"}

func TestCommandComesBack(t *testing.T) {
	with := func(argv string) state.TiltfileLoaded {
		return declared(model.APIObjects{Commands: []model.Command{command("a", argv)}})
	}
	none := declared(model.APIObjects{})
	h := newHolding()
	rows := h.then(with("x"), state.CommandStarted{Name: "a"}, none)
	if e := rows.Ref("a"); e.Phase != store.TearingDown || len(state.CommandsInOrder(h.Snapshot().All())) != 0 {
		t.Errorf("removed: %+v", e)
	}
	rows = h.then(with("y"))
	if e := rows.Ref("a"); e.Phase != store.TearingDown || e.Value.Next == nil {
		t.Errorf("declared again: %+v", e)
	}
	rows = h.then(release)
	if e := rows.Ref("a"); e.Phase != store.Running || e.Value.Cmd.Argv[0] != "y" || e.Value.Runs != 0 || e.Value.State != state.CommandWaiting {
		t.Errorf("let go: %+v", e)
	}
	if rows = h.then(none, with("z"), none, release); rows.Len() != 0 {
		t.Error("it comes back although it was removed again")
	}
}

// commandHolder holds commands.
type commandHolder struct{}

// Contract implements store.Subscriber.
func (commandHolder) Contract() store.Contract {
	return store.Contract{Name: "Holder", Doc: "Holds commands.", Inputs: store.Holds(state.Commands)}
}

// Run implements store.Subscriber.
func (commandHolder) Run(context.Context, *store.Runtime) error { return nil }
