package commandcontroller

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a CommandController at work.
type fixture struct {
	*statetest.Alone
	t    *testing.T
	logs *logstore.Store
}

func start(t *testing.T) *fixture {
	f := &fixture{t: t, logs: statetest.Logs(t)}
	f.Alone = statetest.Start(t, New(f.logs, []string{"GREETING=hello"}))
	f.Dispatch(statetest.Session)
	return f
}

// script is a command that runs a shell script.
func script(name, text string, change func(*model.Command)) model.Command {
	c := model.Command{Name: name, Cmd: model.Cmd{Argv: []string{"sh", "-c", text}}}
	if change != nil {
		change(&c)
	}
	return c
}

func declared(o model.APIObjects) state.TiltfileLoaded {
	a := statetest.Loaded()
	a.Result.APIObjects = o
	return a
}

// declare evaluates a Tiltfile with the given commands and a button for each name.
func (f *fixture) declare(buttons []string, commands ...model.Command) {
	o := model.APIObjects{Commands: commands}
	for _, b := range buttons {
		o.Buttons = append(o.Buttons, model.Button{Name: b, Log: "web"})
	}
	f.Dispatch(declared(o))
}

// is waits until a command is as ok wants it, and returns it.
func (f *fixture) is(name, what string, ok func(state.DeclaredCommand) bool) state.DeclaredCommand {
	f.t.Helper()
	var c state.DeclaredCommand
	f.Until(name+" is "+what, func(v store.View) bool {
		c = state.Commands.In(v).Value(name)
		return ok(c)
	})
	return c
}

func (f *fixture) runs(name string, n int) state.DeclaredCommand {
	f.t.Helper()
	return f.is(name, "in a run", func(c state.DeclaredCommand) bool { return c.Runs == n && c.PID != 0 && c.Ready })
}

func (f *fixture) ended(name string, runs int, as state.CommandState) state.DeclaredCommand {
	f.t.Helper()
	return f.is(name, string(as), func(c state.DeclaredCommand) bool { return c.Runs == runs && c.State == as })
}

// alive reports whether a process exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// says waits until the log of a resource has a line that holds the text.
func (f *fixture) says(resource, text string) {
	f.t.Helper()
	changed, stop := f.logs.Subscribe()
	defer stop()
	for limit := time.After(10 * time.Second); ; {
		if slices.ContainsFunc(statetest.Texts(f.logs, resource), func(l string) bool { return strings.Contains(l, text) }) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			f.t.Fatalf("the log of %s lacks %q: %q", resource, text, statetest.Texts(f.logs, resource))
		}
	}
}

func onClick(buttons ...string) func(*model.Command) {
	return func(c *model.Command) { c.StartOn = &model.Triggers{Buttons: buttons} }
}

func TestStartsByItself(t *testing.T) {
	f := start(t)
	f.declare(nil, script("srv", "echo $GREETING $OWN; exec sleep 1000", func(c *model.Command) { c.Cmd.Env = []string{"OWN=world"} }),
		script("once", "echo done", nil))
	first := f.runs("srv", 1)
	f.says("(Tiltfile)", "Running cmd: echo $GREETING $OWN; exec sleep 1000")
	f.says("(Tiltfile)", "hello world")
	f.ended("once", 1, state.CommandSucceeded)
	f.declare(nil, script("srv", "exec sleep 1001", nil), script("once", "echo done", nil))
	second := f.runs("srv", 2)
	if alive(first.PID) || state.Commands.In(f.View()).Value("once").Runs != 1 {
		t.Errorf("%+v after %+v", second, first)
	}
	f.Stop()
	if alive(second.PID) {
		t.Error("the command outlives its controller")
	}
}

func TestClickStarts(t *testing.T) {
	f := start(t)
	f.declare([]string{"go", "other"}, script("cmd", "echo $GREETING, $NAME; exit $CODE", onClick("go")), script("witness", "true", onClick("other")))
	f.Dispatch(state.ButtonClicked{Button: "other"})
	f.ended("witness", 1, state.CommandSucceeded)
	if c := state.Commands.In(f.View()).Value("cmd"); c.Runs != 0 || c.State != state.CommandWaiting {
		t.Errorf("it runs without a click: %+v", c)
	}
	f.Dispatch(state.ButtonClicked{Button: "go", Inputs: map[string]string{"NAME": "you", "CODE": "0"}})
	f.ended("cmd", 1, state.CommandSucceeded)
	f.says("web", "hello, you")
	f.Dispatch(state.ButtonClicked{Button: "go", Inputs: map[string]string{"NAME": "me", "CODE": "3"}})
	if c := f.ended("cmd", 2, state.CommandFailed); c.ExitCode != 3 || c.Err != "exit code 3" {
		t.Errorf("%+v", c)
	}
	f.says("web", "hello, me")
	f.says("web", `cmd "cmd" ended: exit code 3`)
	f.declare([]string{"go", "other"}, script("cmd", "echo anew", onClick("go")))
	f.Dispatch(state.ButtonClicked{Button: "go"})
	f.ended("cmd", 3, state.CommandSucceeded)
	f.says("web", "anew")
}

func TestInputsWin(t *testing.T) {
	f := start(t)
	f.declare([]string{"go"}, script("cmd", "echo $GREETING $OWN", func(c *model.Command) {
		onClick("go")(c)
		c.Cmd.Env, c.Log = []string{"OWN=declared"}, "db"
	}))
	f.Until("the button is there", func(v store.View) bool { return state.Buttons.In(v).Len() == 1 })
	f.Dispatch(state.ButtonClicked{Button: "go", Inputs: map[string]string{"OWN": "input", "GREETING": "bye"}})
	f.says("db", "bye input")
	f.Until("the environment that the Tiltfile declares stays", func(v store.View) bool {
		return slices.Equal(state.Commands.In(v).Value("cmd").Cmd.Env, []string{"OWN=declared"})
	})
}

func TestRestarts(t *testing.T) {
	f := start(t)
	o := model.APIObjects{
		Buttons:     []model.Button{{Name: "again", Log: "web"}},
		FileWatches: []model.FileWatch{{Name: "src", Watch: model.WatchSpec{Paths: []string{"/src"}}}},
		Commands: []model.Command{script("srv", "echo run with ${X:-nothing}; exec sleep 1000", func(c *model.Command) {
			c.RestartOn = model.Triggers{Buttons: []string{"again"}, FileWatches: []string{"src"}}
		})},
	}
	f.Dispatch(declared(o))
	first := f.runs("srv", 1)
	f.says("web", "run with nothing")
	f.Dispatch(state.ButtonClicked{Button: "again", Inputs: map[string]string{"X": "input"}})
	second := f.runs("srv", 2)
	f.says("web", "run with input")
	f.Dispatch(state.FilesChanged{Changes: []state.FileChange{{Target: o.FileWatches[0].ID(), Paths: []string{"/src/a"}}}})
	third := f.runs("srv", 3)
	if alive(first.PID) || alive(second.PID) || !alive(third.PID) {
		t.Errorf("%d %d %d", first.PID, second.PID, third.PID)
	}
}

// TestStubbornCommandHoldsUpNoOther clicks a button while another command takes its time to stop.
func TestStubbornCommandHoldsUpNoOther(t *testing.T) {
	f := start(t)
	gate := filepath.Join(t.TempDir(), "gate")
	stubborn := script("stubborn", "trap 'while [ ! -e "+gate+" ]; do sleep 0.01; done; exit 0' TERM; echo arm''ed; while :; do sleep 0.01; done", nil)
	quick := script("quick", "echo quick ran", onClick("go"))
	f.declare([]string{"go"}, stubborn, quick)
	f.says("(Tiltfile)", "armed")
	f.declare([]string{"go"}, quick)
	f.Until("the stubborn one is asked to stop", func(v store.View) bool {
		e := state.Commands.In(v).Ref("stubborn")
		return e.Phase == store.TearingDown
	})
	f.Dispatch(state.ButtonClicked{Button: "go"})
	f.ended("quick", 1, state.CommandSucceeded)
	if e := state.Commands.In(f.View()).Ref("stubborn"); e == nil || len(e.Finalizers) != 1 {
		t.Errorf("released before it has ended: %+v", e)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Until("it is gone", func(v store.View) bool { return state.Commands.In(v).Len() == 1 })
}

func TestRemovedAndDeclaredAgain(t *testing.T) {
	f := start(t)
	f.declare(nil, script("srv", "exec sleep 1000", nil))
	first := f.runs("srv", 1)
	f.declare(nil)
	f.declare(nil, script("srv", "exec sleep 1001", nil))
	second := f.is("srv", "another process", func(c state.DeclaredCommand) bool { return c.PID != 0 && c.PID != first.PID })
	if alive(first.PID) || !alive(second.PID) || second.Runs != 1 {
		t.Errorf("%+v after %+v", second, first)
	}
	f.declare(nil)
	f.Until("it is gone", func(v store.View) bool { return state.Commands.In(v).Len() == 0 })
	if alive(second.PID) {
		t.Error("the process is left behind")
	}
}

func TestSwitch(t *testing.T) {
	f := start(t)
	with := func(value string) {
		f.Dispatch(declared(model.APIObjects{
			Buttons:    []model.Button{{Name: "go"}},
			ConfigMaps: []model.ConfigMap{{Name: "m", Data: map[string]string{"isDisabled": value}}},
			Commands: []model.Command{
				script("srv", "exec sleep 1000", func(c *model.Command) { c.Disable.Keys = []model.ConfigMapKey{{ConfigMap: "m", Key: "isDisabled"}} }),
				script("clicked", "exec sleep 1000", func(c *model.Command) {
					onClick("go")(c)
					c.Disable.Keys = []model.ConfigMapKey{{ConfigMap: "m", Key: "isDisabled"}}
				}),
			},
		}))
	}
	with("false")
	f.runs("srv", 1)
	f.Dispatch(state.ButtonClicked{Button: "go"})
	clicked := f.runs("clicked", 1)
	with("true")
	f.ended("srv", 1, state.CommandStopped)
	f.ended("clicked", 1, state.CommandStopped)
	if alive(clicked.PID) {
		t.Error("it keeps running")
	}
	with("false")
	f.runs("srv", 2)
	if c := state.Commands.In(f.View()).Value("clicked"); c.Runs != 1 {
		t.Errorf("an old click counts again: %+v", c)
	}
}

func TestMissingProgram(t *testing.T) {
	f := start(t)
	f.declare(nil, model.Command{Name: "x", Cmd: model.Cmd{Argv: []string{"/does/not/exist"}}})
	if c := f.ended("x", 1, state.CommandFailed); !strings.Contains(c.Err, "/does/not/exist") {
		t.Errorf("%+v", c)
	}
	f.says("(Tiltfile)", "/does/not/exist")
}

func TestProbe(t *testing.T) {
	f := start(t)
	file := filepath.Join(t.TempDir(), "ready")
	f.declare(nil, script("srv", "exec sleep 1000", func(c *model.Command) {
		c.Readiness = &model.Probe{Period: 20 * time.Millisecond, FailureThreshold: 1, Exec: &model.Cmd{Argv: []string{"test", "-e", file}}}
	}))
	f.is("srv", "running, not ready", func(c state.DeclaredCommand) bool { return c.PID != 0 && !c.Ready })
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.runs("srv", 1)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	f.is("srv", "not ready any more", func(c state.DeclaredCommand) bool { return c.PID != 0 && !c.Ready })
	f.says("(Tiltfile)", "[readiness probe: success]")
	f.says("(Tiltfile)", "[readiness probe: failure")
}

// TestDue checks which run is due, and in whose log.
func TestDue(t *testing.T) {
	o := model.APIObjects{
		Buttons:     []model.Button{{Name: "one", Log: "web"}, {Name: "two", Log: "api"}, {Name: "nav"}},
		FileWatches: []model.FileWatch{{Name: "w"}},
		Commands: []model.Command{
			script("auto", "a", nil),
			script("click", "b", onClick("one", "two")),
			script("late", "c", func(c *model.Command) {
				c.StartOn = &model.Triggers{Buttons: []string{"one"}, After: statetest.Epoch.Add(time.Hour)}
			}),
			script("both", "d", func(c *model.Command) {
				onClick("nav")(c)
				c.RestartOn = model.Triggers{Buttons: []string{"two"}, FileWatches: []string{"w"}}
			}),
			script("nobody", "e", onClick("missing")),
		},
	}
	s := statetest.New(statetest.Session, declared(o))
	check := func(when string, want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for _, c := range state.CommandsInOrder(s.View()) {
			if r := due(s.View(), c); r != nil {
				got[c.Name] = string(r.log)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: due are %v, want %v", when, got, want)
		}
		for name, log := range want {
			if got[name] != log {
				t.Errorf("%s: due are %v, want %v", when, got, want)
			}
		}
	}
	change := state.FilesChanged{Changes: []state.FileChange{{Target: o.FileWatches[0].ID(), Paths: []string{"/a"}}}}
	check("declared", map[string]string{"auto": "(Tiltfile)"})
	s.Then(change, state.ButtonClicked{Button: "two"})
	check("what restarts does not start", map[string]string{"auto": "(Tiltfile)", "click": "api"})
	s.Then(state.ButtonClicked{Button: "one"})
	check("the newer click counts", map[string]string{"auto": "(Tiltfile)", "click": "web"})
	s.Then(state.ButtonClicked{Button: "nav"})
	check("all clicked", map[string]string{"auto": "(Tiltfile)", "click": "web", "both": "api"})
	over := func(name string) {
		r := due(s.View(), state.Commands.In(s.View()).Value(name))
		s.Then(state.CommandStarted{Name: name, Cause: r.cause}, state.CommandEnded{Name: name})
	}
	over("click")
	over("both")
	over("auto")
	check("clicks are over, what starts by itself stays", map[string]string{"auto": "(Tiltfile)"})
	s.Then(change)
	check("a file changed", map[string]string{"auto": "(Tiltfile)", "both": "api"})
	over("both")
	s.Then(state.SessionPaused{}, change)
	check("a file changed in a paused session", map[string]string{"auto": "(Tiltfile)"})
	s.Then(state.ButtonClicked{Button: "two"})
	check("clicked there", map[string]string{"auto": "(Tiltfile)", "click": "api", "both": "api"})
	over("click")
	over("both")
	s.Then(change, state.SessionResumed{})
	check("resumed", map[string]string{"auto": "(Tiltfile)", "both": "api"})
	s.Then(declared(o))
	check("declared again without a change", map[string]string{"auto": "(Tiltfile)", "both": "api"})
	o.Commands[3].Cmd.Argv = []string{"other"}
	s.Then(declared(o))
	check("other work does not begin by an old click", map[string]string{"auto": "(Tiltfile)"})
}
