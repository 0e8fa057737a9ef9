package e2e

import (
	"net"
	"path/filepath"
	"testing"
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
	p.says(1, []string{"ci", "--port", "none", "--namespace", p.namespace}, why)
}
