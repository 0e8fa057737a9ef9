package liveupdatetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// Restarting is the command of the container for RestartConformance. It waits for the supervisor, and runs a process
// that records its number and the files in /app in /starts when it starts, and that exits with 3 once /app/crash exists.
// ($$ would not work: Kubernetes turns it into $.)
var Restarting = []string{"sh", "-c", `until [ -x ` + protocol.Path + ` ]; do sleep 0.05; done
exec ` + protocol.Path + ` run --watch /watched -- sh -c '
	read pid rest </proc/self/stat
	echo $pid $(cd /app && cat one two made 2>/dev/null) >>/starts
	until [ -e /app/crash ]; do sleep 0.05; done
	exit 3'`}

// RestartConformance checks how every updater restarts the process of a container that runs Restarting.
func RestartConformance(t *testing.T, p Place) {
	r := &restarting{t, p, t.TempDir()}
	spec := model.LiveUpdate{
		Syncs:          []model.Sync{{LocalPath: r.dir, RemotePath: "/app"}},
		Runs:           []model.Run{run("cat /app/one /app/two >/app/made; ! grep broken /app/one")},
		RestartProcess: &model.RestartProcess{Triggers: []string{filepath.Join(r.dir, "one"), filepath.Join(r.dir, "crash")}},
	}
	change := func(contents map[string]string) error {
		var files []string
		for name, content := range contents {
			files = append(files, put(t, r.dir, name, []byte(content), 0o644))
		}
		return r.make(spec, files)
	}

	if err := r.update(liveupdate.Plan{RestartProcess: true}); liveupdate.Classify(err) != liveupdate.FallBack {
		t.Errorf("without a supervisor: %v", err)
	}
	r.install()
	first := r.starts(1, "")

	r.ok(change(map[string]string{"one": "1", "two": "2"}))
	if second := r.starts(2, "1 2 12"); second == first {
		t.Error("it is the same process")
	}
	r.ok(change(map[string]string{"two": "3"})) // no trigger
	r.starts(2, "1 2 12")
	if err := change(map[string]string{"one": "broken"}); liveupdate.Classify(err) != liveupdate.UserError {
		t.Errorf("a failing command: %v", err)
	}
	r.starts(2, "1 2 12")
	r.ok(change(map[string]string{"one": "4"}))
	r.starts(3, "4 3 43")
	r.p.Ask(t, "touch /watched")
	r.starts(4, "4 3 43")

	r.attend()
	r.p.Ask(t, "touch /app/crash; pid=$(tail -n 1 /starts); while kill -0 ${pid%% *} 2>/dev/null; do sleep 0.05; done")
	r.ok(r.make(spec, []string{filepath.Join(r.dir, "crash")})) // the local file does not exist
	r.starts(5, "4 3 43")
}

type restarting struct {
	t   *testing.T
	p   Place
	dir string
}

func (r *restarting) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(problem.Text(err))
	}
}

func (r *restarting) update(plan liveupdate.Plan) error {
	_, err := r.p.Updater.Update(r.t.Context(), r.p.Container, plan, logstore.Discard)
	return err
}

func (r *restarting) make(spec model.LiveUpdate, files []string) error {
	plan, err := liveupdate.Make(liveupdate.Input{Spec: spec, Changed: files})
	r.ok(err)
	return r.update(plan)
}

// install copies the program into the container, in the way that is being tested.
func (r *restarting) install() {
	data, err := program.For(runtime.GOARCH)
	r.ok(err)
	local := put(r.t, r.t.TempDir(), "synclet", data, 0o755)
	r.ok(r.update(liveupdate.Plan{Copies: []liveupdate.Copy{{Local: local, Remote: "/new"}},
		Runs: []model.Run{run("mkdir -p /.hone && mv /new " + protocol.Path)}}))
}

// starts waits until the process has been started n times, and returns the number of the newest process, which must have
// found the given texts.
func (r *restarting) starts(n int, found string) (pid string) {
	r.t.Helper()
	got := r.p.Ask(r.t, fmt.Sprintf(`n=0; until [ "$(cat /starts 2>/dev/null | wc -l)" -ge %d ] || [ $n = 600 ]; do sleep 0.05; n=$((n+1)); done; cat /starts`, n))
	lines := strings.Split(strings.TrimSpace(got), "\n")
	pid, rest, _ := strings.Cut(lines[len(lines)-1], " ")
	if len(lines) != n || strings.Join(strings.Fields(rest), "") != strings.ReplaceAll(found, " ", "") {
		r.t.Fatalf("want %d starts, the last one with %q:\n%s", n, found, got)
	}
	return pid
}

// attend keeps a conversation with the supervisor open, as a session of hone does, so that a crash does not end the
// container.
func (r *restarting) attend() {
	var hello bytes.Buffer
	w := protocol.NewWriter(&hello)
	w.Append(&protocol.Hello{})
	r.ok(w.Flush())
	local := filepath.Join(r.t.TempDir(), "hello")
	r.ok(os.WriteFile(local, hello.Bytes(), 0o600))
	r.ok(r.update(liveupdate.Plan{Copies: []liveupdate.Copy{{Local: local, Remote: "/hello"}}}))
	r.p.Ask(r.t, fmt.Sprintf(`((cat /hello; sleep 600) | %s serve) >/said 2>/dev/null </dev/null &
		until [ "$(cat /said 2>/dev/null | wc -c)" -gt %d ]; do sleep 0.05; done`, protocol.Path, len(protocol.Preamble)))
}
