package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/pkg/api"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestGraphNeedsNothing prints the architecture without a cluster and a Tiltfile.
func TestGraphNeedsNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, "")
	for format, want := range map[string]string{"dot": "digraph hone {", "mermaid": "flowchart LR", "json": `"subscribers"`} {
		c := p.command("graph", "-o", format)
		c.Env = append(c.Env, "KUBECONFIG=/nonexistent", "DOCKER_HOST=unix:///nonexistent")
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "PodLogManager") {
			t.Errorf("graph -o %s: %v\n%s", format, err, out)
		}
	}
}

// TestCrashedSubscriberIsRestarted lets subscribers panic: the session and the subscribers keep running, and the user sees a report
// to send.
func TestCrashedSubscriberIsRestarted(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.env = []string{"HONE_FAULT=PodLogManager:panic,BuildController:panic"}
	s := p.up()
	s.ready("web")
	if _, err := fetch(p.ports[0], "/"); err != nil {
		t.Error(err)
	}
	s.says(`web │ .*response:200`) // the log of the pod arrives
	for _, name := range []string{"PodLogManager", "BuildController"} {
		s.says(`This is a bug in hone: run ` + name + `: panic: fault asked for by HONE_FAULT \(at store.fault:\d+\). Please report it with \S+bugs.txt`)
	}
	v, err := s.view()
	for _, sub := range v.Subscribers {
		if crashed := sub.Name == "PodLogManager" || sub.Name == "BuildController"; (sub.Crashes == 1) != crashed || sub.State != "running" {
			t.Errorf("subscriber %+v", sub)
		}
	}
	if err != nil || len(v.Subscribers) == 0 {
		t.Errorf("view: %v, %d subscribers", err, len(v.Subscribers))
	}
}

// TestTiltfileIsReevaluated follows changes of the Tiltfile and of a file that it reads; an error keeps the last good set.
func TestTiltfileIsReevaluated(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing+`
-- names.txt --
`)
	p.replace("Tiltfile", "k8s_yaml('app.yaml')", "k8s_yaml('app.yaml')\n[local_resource(n, 'echo hello from ' + n) for n in str(read_file('names.txt')).split()]")
	s := p.up()
	s.ready("app")
	p.write("names.txt", "one two")
	s.ready("app", "one", "two")
	s.says(`1 File Changed: \[names.txt\]`)
	s.says(`one │ hello from one`)

	p.write("names.txt", "two")
	s.await("one to be gone", func() error {
		if _, err := s.resource("one"); err == nil {
			return fmt.Errorf("still there")
		}
		return nil
	})

	p.replace("Tiltfile", "k8s_yaml('app.yaml')", "k8s_yaml('app.yaml')\nk8s_yam('x')")
	s.says(`Tiltfile:2`)
	s.says(`undefined: k8s_yam`)
	s.ready("app", "two") // the last good set
	if v, err := s.view(); err != nil || !strings.Contains(v.TiltfileError, "k8s_yam") {
		t.Errorf("the API does not show the error: %v, %q", err, v.TiltfileError)
	}
	p.replace("Tiltfile", "k8s_yam('x')", "local_resource('three', 'true')")
	s.ready("three")
}

// TestResourceLeavesTheTiltfile checks the order of the end: the port is closed, then the objects are deleted; and
// objects that were removed while hone was not running are deleted at the next start.
func TestResourceLeavesTheTiltfile(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	p.write("Tiltfile", "local_resource('other', 'true')")
	s.ready("other")
	p.gone("apps", "v1", "deployments", "web")
	p.gone("", "v1", "services", "web")
	if _, err := fetch(p.ports[0], "/"); err == nil {
		t.Error("the port is still open")
	}
	s.stop()

	p.write("Tiltfile", "k8s_yaml('web.yaml')\ndocker_build('web', '.', dockerfile='web.Dockerfile')")
	s = p.up()
	s.ready("web")
	s.stop()
	p.write("Tiltfile", "local_resource('other', 'true')")
	s = p.up()
	s.ready("other")
	p.gone("apps", "v1", "deployments", "web")
}

// TestPortOnlyChangeDeploysNothing changes only a port forward.
func TestPortOnlyChangeDeploysNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	before := p.object("apps", "v1", "deployments", "web").GetGeneration()
	p.replace("Tiltfile", "$PORT0:80", "$PORT1:80")
	s.serves(p.ports[1], "/", "one")
	s.await("the old port to close", func() error {
		if _, err := fetch(p.ports[0], "/"); err == nil {
			return fmt.Errorf("still open")
		}
		return nil
	})
	if r, _ := s.resource("web"); len(r.BuildHistory) != 1 {
		t.Errorf("builds: %+v, want only the first", r.BuildHistory)
	}
	if after := p.object("apps", "v1", "deployments", "web").GetGeneration(); after != before {
		t.Errorf("the Deployment changed: generation %d, then %d", before, after)
	}
}

// TestKilledHoneLeavesNoProcess kills hone with SIGKILL while a server runs whose child, deaf to SIGTERM, holds a port:
// only hone, hone after its guard, and both at once.
func TestKilledHoneLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds the guard in /proc")
	}
	for _, tt := range []struct {
		name string
		kill func(t *testing.T, s *session)
	}{
		{"hone", func(t *testing.T, s *session) { killAtOnce(t, s.cmd.Process.Pid) }},
		{"hone, whose guard was killed before", func(t *testing.T, s *session) {
			first := guardOf(t, s)
			killAtOnce(t, first)
			s.await("another guard", func() error {
				if second := guardOf(t, s); second == 0 || second == first {
					return fmt.Errorf("the guard is %d, was %d", second, first)
				}
				return nil
			})
			killAtOnce(t, s.cmd.Process.Pid)
		}},
		{"hone and its guard", func(t *testing.T, s *session) { killAtOnce(t, s.cmd.Process.Pid, guardOf(t, s)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, `
-- Tiltfile --
local_resource('server', serve_cmd='`+deafServer+`=$PORT0 `+os.Args[0]+` & wait', readiness_probe=probe(tcp_socket=tcp_socket_action($PORT0), period_secs=1))
`)
			s := p.up()
			s.becomes("server", "ready", ready)
			tt.kill(t, s)
			<-s.done
			k8stest.Eventually(t, "the port to be free", func() error {
				l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.ports[0]))
				if err == nil {
					_ = l.Close()
				}
				return err
			})
		})
	}
}

// deafServer is the variable with which the test program is a server on the given port that ignores SIGTERM.
const deafServer = "HONE_E2E_DEAF_SERVER"

func serveDeaf(port string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	for {
		if c, err := l.Accept(); err == nil {
			_ = c.Close()
		}
	}
}

// guardOf returns the process number of a session's guard, zero if there is none.
func guardOf(t *testing.T, s *session) int {
	t.Helper()
	out, _ := exec.Command("pgrep", "-P", fmt.Sprint(s.cmd.Process.Pid), "-f", "__guard").Output()
	pid := 0
	_, _ = fmt.Sscan(string(out), &pid)
	return pid
}

// killAtOnce kills processes so that none can notice the end of another.
func killAtOnce(t *testing.T, pids ...int) {
	t.Helper()
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range pids {
			if pid <= 1 {
				t.Fatalf("no process %d", pid)
			}
			if err := syscall.Kill(pid, signal); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestResourceDependencies checks that a resource waits for another to be ready, and reports that.
func TestResourceDependencies(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_resource('web'", "local_resource('gate', 'until test -e open; do sleep 0.1; done')\nk8s_resource('web', resource_deps=['gate']")
	s := p.up()
	r := s.becomes("web", "waiting", func(r api.Resource) bool { return r.Waiting != nil && r.Waiting.Reason == "waiting-for-dep" })
	if fmt.Sprint(r.Waiting.On) != "[gate]" || r.Waiting.Text != "waits for gate to be ready" {
		t.Errorf("waiting: %+v", r.Waiting)
	}
	p.write("open", "")
	s.ready("web")
}
