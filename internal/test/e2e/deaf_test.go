package e2e

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestDeafEngine uses an engine that accepts connections and never answers: everything that needs no engine continues, and every
// command ends by itself and names the engine that it waited for.
func TestDeafEngine(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
docker_build('web', '.')
k8s_yaml('web.yaml')
local_resource('tool', 'true')
-- Dockerfile --
FROM busybox
-- web.yaml --
`+deployment("web", "containers: [{name: web, image: web}]\n"))
	socket := filepath.Join(p.state, "deaf.sock")
	l, err := net.Listen("unix", socket) // the kernel accepts for it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.env = append(p.env, "DOCKER_HOST=unix://"+socket)
	const why = `cannot reach the Docker engine at unix://.*/deaf.sock: it accepts connections and answers nothing\n  start the engine`
	p.says(0, []string{"up", "--detach", "--port", "none", "--namespace", p.namespace},
		`Waiting for the container engine to answer`, `It waits for the container engine: `+why)
	t.Cleanup(func() { p.run("stop", "--all") })
	p.says(0, []string{"wait", "--for=condition=Ready", "uiresource/tool", "--timeout=60s"})
	p.says(0, []string{"get", "uiresources"}, `web .* waiting-for-engine`)
	p.says(0, []string{"stop"}, "has ended")
	p.says(1, []string{"docker-prune"}, `Waiting for the container engine`, why)
	p.says(0, []string{"doctor"}, why[:60])
	p.says(1, []string{"ci", "--port", "none", "--namespace", p.namespace}, `Waiting: web waits for the container engine to answer`, why)
}

// TestDeafSession talks to a session that accepts connections and never answers: each command says so, and an interrupt ends it at once.
func TestDeafSession(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts for it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	at := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	p := newLocalProject(t, tool)
	for _, command := range []string{"get uiresources", "describe uiresources", "wait --for=delete uiresource/tool", "explain cmds", "api-resources", "delete cmd x",
		"logs", "logs -f", "events", "args", "trigger tool", "dump engine", "snapshot create", "stop"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c, out := p.command(append(strings.Fields(command), "--port", at)...), &output{}
			c.Stdout, c.Stderr = out, out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer time.AfterFunc(patience, func() { _ = c.Process.Kill() }).Stop()
			k8stest.Eventually(t, "the wait to be named", func() error {
				if !strings.Contains(out.String(), "Waiting for the session at localhost:"+at+" to answer…") {
					return errors.New("it is not")
				}
				return nil
			})
			_ = c.Process.Signal(os.Interrupt)
			_ = c.Wait()
			if got := c.ProcessState.ExitCode(); got != 130 {
				t.Errorf("the exit code is %d\n%s", got, out)
			}
		})
	}
}

// TestDeafCluster uses an API server that accepts connections and never answers: each command says in time what it waits for.
func TestDeafCluster(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts for it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newProject(t, `
-- Tiltfile --
allow_k8s_contexts('kind-deaf')
k8s_yaml('settings.yaml')
-- settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
-- kubeconfig --
apiVersion: v1
kind: Config
current-context: kind-deaf
clusters: [{name: deaf, cluster: {server: "https://`+l.Addr().String()+`", insecure-skip-tls-verify: true}}]
contexts: [{name: kind-deaf, context: {cluster: deaf, user: dev}}]
users: [{name: dev, user: {token: t}}]
`)
	p.env = append(p.env, "KUBECONFIG="+filepath.Join(p.dir, "kubeconfig"))
	const why = `cluster "kind-deaf" .* does not answer: no answer in time`
	p.says(1, []string{"preview"}, `Waiting for cluster kind-deaf to answer…`, why)
	p.says(1, []string{"deploy", "--yes", "--port", "none"}, `Waiting for cluster kind-deaf to answer…`, why)
	p.says(1, []string{"down"}, `Waiting for cluster kind-deaf to answer…`, why)
	p.says(1, []string{"ci", "--port", "none"}, `Waiting: uncategorized waits for the cluster to answer`, why)
}
