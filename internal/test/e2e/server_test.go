package e2e

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// pidsOf returns the numbers in a line.
func pidsOf(line string) []int {
	var pids []int
	for _, n := range regexp.MustCompile(`\d+`).FindAllString(line, -1) {
		pid, _ := strconv.Atoi(n)
		pids = append(pids, pid)
	}
	return pids
}

// lives reports whether a process runs. A zombie does not.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(state) > 0 && state[0] != 'Z' && state[0] != 'X'
}

// gone waits until processes have ended.
func (s *session) gone(pids ...int) {
	s.p.t.Helper()
	if len(pids) == 0 {
		s.p.t.Fatal("no processes to look for")
	}
	k8stest.Eventually(s.p.t, fmt.Sprintf("processes %v to be gone", pids), func() error {
		for _, pid := range pids {
			if lives(pid) {
				return fmt.Errorf("%d lives", pid)
			}
		}
		return nil
	})
}

// server waits until the server that was started after build n is ready, and returns its pid.
func (s *session) server(name string, n int) int {
	s.p.t.Helper()
	r := s.becomes(name, fmt.Sprintf("served after update %d", n), func(r api.Resource) bool {
		return ready(r) && len(r.BuildHistory) >= n && r.Process != nil && r.Process.PID > 0
	})
	return r.Process.PID
}

// TestServerRestarts makes one change after the other: only successful updates restart the server. The old process is
// gone before the new one starts.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('srv', cmd='sh prepare.sh', deps=['prepare.sh'], labels=['one'], serve_env={'WORD': 'first'}, serve_cmd='mkdir port || exit 1; trap "rmdir port; exit 0" TERM; echo "$WORD"; sleep 100000 & wait')
local_resource('only', serve_cmd='echo only $$; exec sleep 100000')
-- prepare.sh --
true
`)
	s := p.up()
	first := s.server("srv", 1)
	only := s.server("only", 1)

	p.write("prepare.sh", "exit 1")
	s.becomes("srv", "failed", func(r api.Resource) bool {
		return r.UpdateStatus == "error" && r.Process.PID == first && r.RuntimeStatus == "ok"
	})

	p.write("prepare.sh", "true # again")
	second := s.server("srv", 3)
	if lives(first) || second == first {
		t.Errorf("the server was not replaced: %d, %d", first, second)
	}

	p.replace("Tiltfile", "labels=['one']", "labels=['two'], links=['http://localhost:1'], allow_parallel=True")
	s.becomes("srv", "labelled", func(r api.Resource) bool { return fmt.Sprint(r.Labels) == "[two]" })
	if same := s.server("srv", 3); same != second || s.updates("srv") != 3 {
		t.Errorf("a label restarted the server: %d, %d, %d updates", second, same, s.updates("srv"))
	}

	p.replace("Tiltfile", "'WORD': 'first'", "'WORD': 'changed'")
	third := s.server("srv", 4)
	s.says(`srv │ changed$`)
	if lives(second) || third == second {
		t.Errorf("serve_env did not restart the server: %d, %d", second, third)
	}
	if n := strings.Count(s.out.String(), "Running serve cmd: mkdir port"); n != 3 {
		t.Errorf("the server was started %d times, want 3", n)
	}

	s.triggers("only")
	if again := s.server("only", 2); lives(only) || again == only {
		t.Errorf("a trigger did not restart the server: %d, %d", only, again)
	}

	p.replace("Tiltfile", "local_resource('srv'", "#")
	s.gone(third)
	s.await("srv to be gone", func() error {
		if _, err := s.resource("srv"); err == nil {
			return fmt.Errorf("it is still there")
		}
		return nil
	})
	if strings.Contains(s.out.String(), "srv │ Server exited") {
		t.Error("a server that was stopped counts as failed")
	}
}

// TestServerExits ends servers in every way: each end is an error that reports how, and none is restarted automatically.
func TestServerExits(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('zero', serve_cmd='echo started; exit 0')
local_resource('three', serve_cmd='exit 3')
local_resource('killed', serve_cmd='kill -9 $$')
local_resource('missing', serve_cmd=['./no-such-program'])
local_resource('leaves', serve_cmd='sleep 100000 & echo left $!; exit 0')
`)
	s := p.up()
	for name, want := range map[string]struct {
		err  string
		code int
	}{
		"zero":    {"serve_cmd ended: exit code 0, but a server should keep running", 0},
		"three":   {"serve_cmd ended: exit code 3", 3},
		"killed":  {"serve_cmd was ended by SIGKILL", 137},
		"missing": {"serve_cmd did not start: ", -1},
		"leaves":  {"serve_cmd ended: exit code 0", 0},
	} {
		r := s.becomes(name, "failed", func(r api.Resource) bool { return r.RuntimeStatus == "error" })
		if !strings.HasPrefix(r.RuntimeError, want.err) || r.UpdateStatus != "not_applicable" || r.Process == nil || r.Process.ExitCode == nil || *r.Process.ExitCode != want.code {
			t.Errorf("%s: %q, %+v; want %q and exit code %d", name, r.RuntimeError, r.Process, want.err, want.code)
		}
	}
	s.gone(pidsOf(s.says(`leaves │ left \d+$`))...)
	s.triggers("zero")
	s.builds("zero", 2)
	s.becomes("zero", "failed again", func(r api.Resource) bool { return r.RuntimeStatus == "error" && len(r.BuildHistory) == 2 })
	s.await("two starts", func() error {
		if n := strings.Count(s.out.String(), "zero │ started\n"); n != 2 {
			return fmt.Errorf("%d starts", n)
		}
		return nil
	})
}

// stubborn ignores SIGTERM, as do its children.
const stubborn = `
-- Tiltfile --
local_resource('mule', serve_cmd='trap "" TERM; sleep 100000 & a=$!; (sleep 100000; :) & b=$!; echo "pids $$ $a $b"; wait; wait')
local_resource('lamb', serve_cmd='sleep 100000 & echo "pids $$ $!"; wait')
`

// TestStopEndsServers interrupts hone while servers run: those that handle the signal end at once, the others are killed
// when their time is up, and hone reports that and ends after them.
func TestStopEndsServers(t *testing.T) {
	t.Parallel()
	s := newLocalProject(t, stubborn).up()
	mule, lamb := pidsOf(s.says(`mule │ pids \d+ \d+ \d+$`)), pidsOf(s.says(`lamb │ pids \d+ \d+$`))
	_ = s.cmd.Process.Signal(os.Interrupt)
	s.gone(lamb...)
	s.says(`mule │ Waiting for ".*" to stop`)
	if !lives(mule[0]) {
		t.Error("the server that ignores SIGTERM has ended on its own, which proves nothing")
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Fatal("hone does not stop")
	}
	for _, pid := range mule {
		if lives(pid) {
			t.Errorf("%d outlives hone", pid)
		}
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 130 && code != 0 {
		t.Errorf("exit code %d\n%s", code, s.out)
	}
}

// TestKillLeavesNothing kills hone, which can then no longer stop the servers: nevertheless none stays.
func TestKillLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, stubborn)
	p.replace("Tiltfile", "local_resource('lamb'", "local_resource('busy', 'sleep 100000 & echo \"pids $$ $!\"; wait')\nlocal_resource('lamb'")
	s := p.up()
	pids := pidsOf(s.says(`mule │ pids \d+ \d+ \d+$`))
	pids = append(pids, pidsOf(s.says(`lamb │ pids \d+ \d+$`))...)
	pids = append(pids, pidsOf(s.says(`busy │ pids \d+ \d+$`))...)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.done
	s.gone(pids...)
}

// health is the endpoint of a probe: it gives the configured answer, over HTTPS.
type health struct {
	*httptest.Server
	code  atomic.Int64
	asked atomic.Int64
	path  atomic.Value
}

func newHealth(t *testing.T, code int64) *health {
	h := &health{}
	h.code.Store(code)
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.path.Store(r.URL.String())
		h.asked.Add(1)
		if h.code.Load() == 0 {
			<-r.Context().Done() // no answer
			return
		}
		w.WriteHeader(int(h.code.Load()))
	}))
	t.Cleanup(h.Close)
	return h
}

// TestProbes makes servers ready and not ready again, each by another kind of probe. Dependent resources wait until a
// server is ready for the first time, and never again.
func TestProbes(t *testing.T) {
	t.Parallel()
	h := newHealth(t, 503)
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('asks', serve_cmd='exec sleep 100000', serve_env={'FILE': 'ready'},
    readiness_probe=probe(period_secs=1, exec=exec_action(['sh', '-c', 'test -e $FILE || { echo no $FILE; exit 1; }']), failure_threshold=2))
local_resource('gets', serve_cmd='exec sleep 100000',
    readiness_probe=probe(period_secs=1, success_threshold=2, failure_threshold=1, http_get=http_get_action(HEALTH, scheme='https', path='/healthz?full=1')))
local_resource('dials', serve_cmd='exec sleep 100000', readiness_probe=probe(initial_delay_secs=1, period_secs=1, tcp_socket=tcp_socket_action($PORT0)))
local_resource('after', 'echo after', deps=['dep'], resource_deps=['asks', 'gets', 'dials'])
-- dep --
`)
	p.replace("Tiltfile", "HEALTH", fmt.Sprint(h.Listener.Addr().(*net.TCPAddr).Port))
	s := p.up()
	pending := func(name, why string) {
		t.Helper()
		s.becomes(name, "not ready: "+why, func(r api.Resource) bool {
			return r.RuntimeStatus == "pending" && strings.Contains(r.RuntimeError, why) && r.Process.State == "running" && !r.Process.Ready
		})
	}
	pending("asks", "exit code 1: no ready")
	pending("gets", "503 Service Unavailable")
	pending("dials", "connection refused")
	if on := s.waits("after", "waiting-for-dep"); on != "asks gets dials" {
		t.Errorf("after waits for %q", on)
	}
	s.says(`gets │ \[readiness probe: failure: .*503`)

	p.write("ready", "")
	s.says(`asks │ \[readiness probe: success\]$`)
	s.ready("asks")
	h.code.Store(204)
	s.says(`gets │ \[readiness probe: success 1 of 2\]$`)
	s.ready("gets")
	s.says(`gets │ \[readiness probe: success\]$`)
	if path := h.path.Load(); path != "/healthz?full=1" {
		t.Errorf("asked for %v", path)
	}
	if err := os.Remove(filepath.Join(p.dir, "ready")); err != nil {
		t.Fatal(err)
	}
	s.says(`asks │ \[readiness probe: failure 1 of 2: exit code 1: no ready\]$`)
	pending("asks", "no ready") // it was ready once
	if on := s.waits("after", "waiting-for-dep"); on != "dials" {
		t.Errorf("after waits for %q", on)
	}
	h.code.Store(0)
	pending("gets", "no answer within 1s")
	l, err := net.Listen("tcp", fmt.Sprintf("localhost:%d", p.ports[0]))
	if err != nil {
		t.Fatal(err)
	}
	s.ready("after")
	l.Close()
	pending("dials", "connection refused")
	p.write("dep", "changed")
	s.builds("after", 2)
}

// TestProbeChanges gives a running server another probe: the server keeps running.
func TestProbeChanges(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('srv', serve_cmd='exec sleep 100000', readiness_probe=probe(period_secs=1, exec=exec_action(['false'])))
`)
	s := p.up()
	r := s.becomes("srv", "not ready", func(r api.Resource) bool { return r.RuntimeError == "exit code 1" })
	p.replace("Tiltfile", "['false']", "['true']")
	if pid := s.server("srv", 1); pid != r.Process.PID || s.updates("srv") != 1 {
		t.Errorf("the server was restarted: %d, %d", r.Process.PID, pid)
	}
}

// TestLocalCI tests the ways in which ci ends with local resources. No process that it started stays.
func TestLocalCI(t *testing.T) {
	for _, tc := range []struct {
		name, tiltfile string
		code           int
		want           []string
	}{
		{"all well", `
local_resource('gen', 'echo generated')
local_resource('srv', serve_cmd='echo pid $$; exec sleep 100000', resource_deps=['gen'])
`, 0, []string{"gen │ generated", "SUCCESS. All workloads are healthy."}},
		{"a server gets ready", `
local_resource('srv', serve_cmd='echo pid $$; sleep 2; touch up; exec sleep 100000', readiness_probe=probe(period_secs=1, exec=exec_action(['test', '-e', 'up'])))
local_resource('test', 'test -e up && echo tested', resource_deps=['srv'])
`, 0, []string{"[readiness probe: failure", "[readiness probe: success]", "test │ tested", "SUCCESS."}},
		{"a command fails", `
local_resource('srv', serve_cmd='echo pid $$; exec sleep 100000')
local_resource('gen', 'exit 3', resource_deps=['srv'])
`, 1, []string{`Error: gen: command "exit 3" failed: exit code 3`}},
		{"a server exits, even with 0", `
local_resource('srv', serve_cmd='echo pid $$; exit 0', readiness_probe=probe(period_secs=1, exec=exec_action(['false'])))
`, 1, []string{"Error: srv: serve_cmd ended: exit code 0"}},
		{"what only the user starts does not count", `
local_resource('gen', 'echo generated')
local_resource('later', 'exit 1', auto_init=False)
local_resource('manual', 'exit 1', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
local_resource('server', serve_cmd='exit 1', auto_init=False, trigger_mode=TRIGGER_MODE_MANUAL)
`, 0, []string{"SUCCESS."}},
		{"a server that never gets ready", `
local_resource('srv', serve_cmd='echo pid $$; exec sleep 100000', readiness_probe=probe(period_secs=1, exec=exec_action(['sh', '-c', 'echo not yet; exit 1'])))
ci_settings(readiness_timeout='3s')
`, 1, []string{"Error: srv did not get ready within 3s: exit code 1: not yet"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, "-- Tiltfile --"+tc.tiltfile)
			out, code := p.run("ci", "--port", "0")
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q", want)
				}
			}
			for _, pid := range pidsOf(regexp.MustCompile(`srv │ pid \d+`).FindString(out)) {
				if lives(pid) {
					t.Errorf("server %d outlives ci", pid)
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}
