package processcontroller

import (
	"fmt"
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

// fixture is a ProcessController at work.
type fixture struct {
	*statetest.Alone
	t    *testing.T
	logs *logstore.Store
}

func start(t *testing.T) *fixture { return startWith(t, 10*time.Second) }

// startWith lets servers take as long as grace to stop.
func startWith(t *testing.T, grace time.Duration) *fixture {
	f := &fixture{t: t, logs: statetest.Logs(t)}
	sub := New(f.logs, []string{"GREETING=hello"})
	sub.grace = grace
	f.Alone = statetest.Start(t, sub, "Other")
	f.Dispatch(statetest.Session)
	return f
}

// serving is a local resource that serves with a shell script.
func serving(script string, change func(*model.LocalTarget)) model.Manifest {
	m := model.Manifest{Name: "srv", AutoInit: true, Local: &model.LocalTarget{Serve: model.Cmd{Argv: []string{"sh", "-c", script}}}}
	if change != nil {
		change(m.Local)
	}
	return m
}

// built says that the resource was updated for the serial-th time.
func (f *fixture) built(serial int, err string) {
	f.Dispatch(state.BuildStarted{Resource: "srv", Serial: serial}, state.BuildCompleted{Resource: "srv", Serial: serial, Err: err, Deployed: err == ""})
}

// is waits until the server is as ok wants it, and returns it.
func (f *fixture) is(what string, ok func(state.Process) bool) state.Process {
	f.t.Helper()
	var p state.Process
	f.Until("the server is "+what, func(v store.View) bool {
		p = state.Processes.In(v).Value("srv")
		return ok(p)
	})
	return p
}

func (f *fixture) runs(build int) state.Process {
	f.t.Helper()
	return f.is(fmt.Sprintf("ready after build %d", build), func(p state.Process) bool {
		return p.State == state.ProcessRunning && p.Ready && p.Build == build
	})
}

// alive reports whether a process exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// says waits until the log has a line that holds the text.
func (f *fixture) says(text string) {
	f.t.Helper()
	changed, stop := f.logs.Subscribe()
	defer stop()
	for limit := time.After(10 * time.Second); ; {
		if slices.ContainsFunc(statetest.Texts(f.logs, "srv"), func(l string) bool { return strings.Contains(l, text) }) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			f.t.Fatalf("the log lacks %q: %q", text, statetest.Texts(f.logs, "srv"))
		}
	}
}

// TestRestart restarts a running server and one that has failed; the resource is not ready meanwhile.
func TestRestart(t *testing.T) {
	f := start(t)
	flag := filepath.Join(t.TempDir(), "fail")
	f.Dispatch(statetest.Loaded(serving("[ ! -e "+flag+" ] || exit 3; exec sleep 1000", nil)))
	f.built(1, "")
	first := f.runs(1)
	restart := state.ResourcesRestarted{Names: []model.ManifestName{"srv"}}
	f.Dispatch(restart)
	second := f.is("restarted", func(p state.Process) bool { return p.State == state.ProcessRunning && p.Ready && p.Restart == 1 })
	if second.PID == first.PID || alive(first.PID) || second.Build != 1 {
		t.Errorf("the server was %+v, and is %+v", first, second)
	}
	if r := state.Restarts.In(f.View()).Value("srv"); r.Running() || r.Err != "" || !slices.Equal(r.Done, []string{"serve_cmd"}) {
		t.Errorf("the restart: %+v", r)
	}
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Dispatch(restart)
	f.is("failed", func(p state.Process) bool { return p.State == state.ProcessFailed && p.Restart == 2 })
	if err := os.Remove(flag); err != nil {
		t.Fatal(err)
	}
	f.Dispatch(restart)
	f.is("restarted after its failure", func(p state.Process) bool { return p.State == state.ProcessRunning && p.Ready && p.Restart == 3 })
}

func TestServerFollowsBuilds(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(serving("echo $GREETING from $$; exec sleep 1000", nil)))
	f.built(1, "exit code 1")
	f.Until("the build has failed", func(v store.View) bool { return len(state.Updates.In(v).Value("srv").Builds) == 1 })
	f.built(2, "")
	first := f.runs(2)
	if state.Processes.In(f.View()).Value("srv").Resource != "srv" || !alive(first.PID) {
		t.Errorf("%+v", first)
	}
	f.says("hello from")
	f.says("Running serve cmd: echo")
	f.built(3, "exit code 1")
	f.Until("another build has failed", func(v store.View) bool { return len(state.Updates.In(v).Value("srv").Builds) == 3 })
	f.Dispatch(statetest.Loaded(serving("echo $GREETING from $$; exec sleep 1000", func(l *model.LocalTarget) { l.AllowParallel = true })))
	f.built(4, "")
	second := f.runs(4)
	if alive(first.PID) || second.PID == first.PID {
		t.Errorf("the first server still runs next to the second: %d, %d", first.PID, second.PID)
	}
	f.Stop()
	if alive(second.PID) {
		t.Error("the server outlives its controller")
	}
}

func TestChangedCommandRestarts(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(serving("exec sleep 1000", nil)))
	f.built(1, "")
	first := f.runs(1)
	f.Dispatch(statetest.Loaded(serving("exec sleep 1001", nil)))
	f.built(2, "exit code 1")
	f.Until("the update has failed", func(v store.View) bool { return len(state.Updates.In(v).Value("srv").Builds) == 2 })
	if p := f.runs(1); p.PID != first.PID {
		t.Errorf("restarted before an update has succeeded: %+v after %+v", p, first)
	}
	f.built(3, "")
	if second := f.runs(3); alive(first.PID) {
		t.Errorf("%+v still runs next to %+v", first, second)
	}
	f.says("Running serve cmd: exec sleep 1001")
}

// TestOnlyTheServer changes everything that does not concern the server: it keeps running.
func TestOnlyTheServer(t *testing.T) {
	f := start(t)
	m := serving("exec sleep 1000", nil)
	f.Dispatch(statetest.Loaded(m))
	f.built(1, "")
	first := f.runs(1)
	m = serving("exec sleep 1000", func(l *model.LocalTarget) {
		l.AllowParallel, l.Links, l.Watch.Paths = true, []model.Link{{URL: "http://localhost:1"}}, []string{"/src"}
		l.Readiness = &model.Probe{Exec: &model.Cmd{Argv: []string{"false"}}}
	})
	m.Labels, m.Links, m.TriggerMode = []string{"a"}, []model.Link{{URL: "http://x"}}, model.TriggerManual
	f.Dispatch(statetest.Loaded(m))
	p := f.is("asked by the new probe", func(p state.Process) bool { return p.State == state.ProcessRunning && !p.Ready && p.Detail != "" })
	if p.PID != first.PID || p.Detail != "exit code 1" {
		t.Errorf("%+v after %+v", p, first)
	}
	local := *m.Local
	local.Readiness, m.Local = nil, &local
	f.Dispatch(statetest.Loaded(m))
	if p := f.runs(1); p.PID != first.PID || p.Detail != "" {
		t.Errorf("without a probe: %+v after %+v", p, first)
	}
}

// TestManyFailedUpdates lets more updates fail than the table remembers.
func TestManyFailedUpdates(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(serving("exec sleep 1000", nil)))
	f.built(1, "")
	first := f.runs(1)
	for n := 2; n < 40; n++ {
		f.built(n, "exit code 1")
	}
	f.Until("all have failed", func(v store.View) bool { return state.Updates.In(v).Value("srv").Builds[0].Serial == 39 })
	f.built(40, "")
	f.is("one of the next update", func(p state.Process) bool {
		if p.State == state.ProcessStopped && p.Build == 1 {
			return false
		}
		return p.State == state.ProcessRunning && p.Build == 40
	})
	if texts := strings.Join(statetest.Texts(f.logs, "srv"), "\n"); strings.Count(texts, "Running serve cmd") != 2 || alive(first.PID) {
		t.Errorf("log: %s", texts)
	}
}

// TestOneThatDoesNotStop is asked to stop by a new update: it is killed in the end, and no other server waits for it.
func TestOneThatDoesNotStop(t *testing.T) {
	f := startWith(t, 4*time.Second)
	stubborn := serving("trap '' TERM; echo stubborn $((40+2)); while :; do sleep 1; done", nil)
	other := serving("exec sleep 1000", nil)
	other.Name = "other"
	f.Dispatch(statetest.Loaded(stubborn, other))
	f.built(1, "")
	first := f.runs(1)
	f.says("stubborn 42")
	f.built(2, "")
	f.is("asked to stop", func(p state.Process) bool { return p.State == state.ProcessStopping && !p.Ready && p.PID == first.PID })
	f.Dispatch(state.BuildStarted{Resource: "other", Serial: 1}, state.BuildCompleted{Resource: "other", Serial: 1, Deployed: true})
	f.Until("the other one runs", func(v store.View) bool { return state.Processes.In(v).Value("other").Ready })
	if !alive(first.PID) {
		t.Error("the stubborn one was gone already, which proves nothing")
	}
	f.Dispatch(statetest.Loaded(serving("exec sleep 1000", nil), other))
	f.built(3, "")
	f.runs(3)
	f.says("Waiting for")
	if alive(first.PID) {
		t.Error("it outlives SIGKILL")
	}
	if texts := strings.Join(statetest.Texts(f.logs, "srv"), "\n"); strings.Count(texts, "Running serve cmd") != 2 {
		t.Errorf("the update that was overtaken got a server: %s", texts)
	}
}

// TestLinesStayWhole has hone write a message while a line of the server is not finished, and the server end without a line
// break.
func TestLinesStayWhole(t *testing.T) {
	f := start(t)
	file := filepath.Join(t.TempDir(), "ready")
	f.Dispatch(statetest.Loaded(serving("printf 'half a '; until [ -e "+file+" ]; do sleep 0.02; done; printf 'line, no end'", func(l *model.LocalTarget) {
		l.Readiness = &model.Probe{Period: 20 * time.Millisecond, Exec: &model.Cmd{Argv: []string{"false"}}}
	})))
	f.built(1, "")
	f.says("[readiness probe: failure: exit code 1]")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.says("Server exited: ")
	texts := statetest.Texts(f.logs, "srv")
	line, exited := slices.Index(texts, "half a line, no end"), slices.IndexFunc(texts, func(s string) bool { return strings.HasPrefix(s, "Server exited: ") })
	if line < 0 || exited < line {
		t.Errorf("log: %q", texts)
	}
}

func TestExit(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(serving("exit 3", func(l *model.LocalTarget) { l.Serve.EchoOff = true })))
	f.built(1, "")
	p := f.is("failed", func(p state.Process) bool { return p.State == state.ProcessFailed })
	if p.Ready || p.PID != 0 || p.ExitCode != 3 || p.Err != "serve_cmd ended: exit code 3" {
		t.Errorf("%+v", p)
	}
	if text := strings.Join(statetest.Texts(f.logs, "srv"), "\n"); strings.Contains(text, "Running serve cmd") || !strings.Contains(text, "Server exited") {
		t.Errorf("log: %s", text)
	}
	f.built(2, "")
	f.is("started again by the next build", func(p state.Process) bool { return p.State == state.ProcessFailed && p.Build == 2 })
	f.Dispatch(statetest.Loaded(serving("exit 0", nil)))
	f.built(3, "")
	p = f.is("failed though its exit code is 0", func(p state.Process) bool { return p.State == state.ProcessFailed && p.Build == 3 })
	if p.ExitCode != 0 || p.Err != "serve_cmd ended: exit code 0, but a server should keep running" {
		t.Errorf("%+v", p)
	}
	f.Dispatch(statetest.Loaded(serving("kill -9 $$", nil)))
	f.built(4, "")
	p = f.is("killed", func(p state.Process) bool { return p.State == state.ProcessFailed && p.Build == 4 })
	if p.ExitCode != 137 || p.Err != "serve_cmd was ended by SIGKILL" {
		t.Errorf("%+v", p)
	}
}

func TestMissingCommand(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(serving("", func(l *model.LocalTarget) { l.Serve.Argv = []string{"/does/not/exist"} })))
	f.built(1, "")
	p := f.is("failed", func(p state.Process) bool { return p.State == state.ProcessFailed })
	if !strings.Contains(p.Err, "/does/not/exist") || p.ExitCode != -1 {
		t.Errorf("%+v", p)
	}
}

func TestProbe(t *testing.T) {
	f := start(t)
	file := filepath.Join(t.TempDir(), "ready")
	f.Dispatch(statetest.Loaded(serving("exec sleep 1000", func(l *model.LocalTarget) {
		l.Readiness = &model.Probe{Period: 20 * time.Millisecond, Timeout: time.Second, SuccessThreshold: 1, FailureThreshold: 1,
			Exec: &model.Cmd{Argv: []string{"sh", "-c", `test $GREETING = hello && test -e "$FILE"`}}}
		l.Serve.Env = []string{"FILE=" + file}
	})))
	f.built(1, "")
	f.is("running, never ready, failing", func(p state.Process) bool {
		return p.State == state.ProcessRunning && !p.Ready && !p.WasReady && !p.FailingSince.IsZero()
	})
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p := f.runs(1); !p.FailingSince.IsZero() {
		t.Errorf("ready, and failing since %s", p.FailingSince)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	f.is("no longer ready", func(p state.Process) bool {
		return p.State == state.ProcessRunning && !p.Ready && p.Detail != "" && p.WasReady && !p.FailingSince.IsZero()
	})
	f.says("[readiness probe: success")
	f.says("[readiness probe: failure")
}

func TestTheServerEndsBeforeTheResourceIsLetGo(t *testing.T) {
	f := start(t)
	f.Dispatch(statetest.Loaded(serving("exec sleep 1000", nil)))
	f.built(1, "")
	p := f.runs(1)
	f.Dispatch(statetest.Loaded())
	f.Until("the resource is let go", func(v store.View) bool {
		e := state.Resources.In(v).Ref("srv")
		return e != nil && !slices.Contains(e.Finalizers, name)
	})
	if alive(p.PID) || state.Processes.In(f.View()).Len() != 0 {
		t.Error("the server still runs")
	}
}

func TestDesired(t *testing.T) {
	plain := statetest.Local("plain")
	s := statetest.New(statetest.Session, statetest.Loaded(serving("true", nil), plain, statetest.K8s("web")))
	check := func(when string, want int) {
		t.Helper()
		got := desired(s.View())
		if w, ok := got["srv"]; len(got) > 1 || ok != (want > 0) || w.build != want {
			t.Errorf("%s: %v, want the server of build %d", when, got, want)
		}
	}
	check("before the first build", 0)
	s.Begin("srv")
	check("in the first build", 0)
	s.Finish("srv", nil).Begin("plain").Finish("plain", nil)
	check("built", 1)
	s.Begin("srv")
	check("the server goes on during the next build", 1)
	s.Finish("srv", func(b *state.BuildCompleted) { b.Cancelled = true })
	check("and after a cancelled one", 1)
	s.Begin("srv").Finish("srv", nil)
	check("built again", 3)
}
