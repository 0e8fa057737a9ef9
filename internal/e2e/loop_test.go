package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"

	"github.com/hone-dev/hone/internal/k8s/k8stest"
)

// TestGraphNeedsNothing prints the architecture where there is no cluster and no Tiltfile.
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

// TestCrashedSubscriberIsRestarted lets a subscriber panic: the session goes on, and so does the subscriber.
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

// TestResourceLeavesTheTiltfile checks the order of the end: the port is closed, then the objects are deleted; and what was
// removed while hone was not running is deleted at the next start.
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

// TestPortOnlyChangeDeploysNothing changes a port-forward alone.
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

// TestKilledHoneLeavesNoProcess kills hone with SIGKILL while a local command runs.
func TestKilledHoneLeavesNoProcess(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local_resource('server', serve_cmd='echo up $$; exec sleep 100000', readiness_probe=probe(exec=exec_action(['true']), period_secs=1))
`)
	s := p.up()
	pid := strings.Fields(s.says(`server │ up \d+`))[3]
	s.becomes("server", "ready", ready)
	_ = s.cmd.Process.Kill()
	<-s.done
	k8stest.Eventually(t, "the server to end", func() error {
		b, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(b), ") Z ") {
			return nil
		}
		return fmt.Errorf("process %s still runs", pid)
	})
	if out, err := exec.Command("pgrep", "-f", "__guard").Output(); err == nil && strings.Contains(string(out), pid) {
		t.Errorf("guards are left: %s", out)
	}
}

// TestResourceDependencies checks that a resource waits for another to be ready, and says so.
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
