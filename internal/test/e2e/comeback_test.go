package e2e

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/test/proxy"
	"github.com/hone-dev/hone/pkg/api"
)

// TestRegistryIsBack pushes to a registry that does not run yet: the build fails with a mend, is retried automatically,
// and succeeds once the registry answers.
func TestRegistryIsBack(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	way, err := proxy.NewWire("localhost:5000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(way.Close)
	way.Cut()
	_, port, _ := strings.Cut(way.Address(), ":")
	p.replace("Tiltfile", "docker_build(", "default_registry('localhost:"+port+"')\ndocker_build(")
	// An account that may not see the local registry that the cluster announces.
	p.env = append(p.env, "KUBECONFIG="+p.actAs("developer", []any{
		map[string]any{"apiGroups": []any{"*"}, "resources": []any{"*"}, "verbs": []any{"*"}}}))
	s := p.up()
	s.says(`Build Failed: .*cannot push localhost:` + port)
	s.says(`Trying again in 2s`)
	s.says(`Trying again in 4s`)
	if err := way.Join(); err != nil {
		t.Fatal(err)
	}
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
}

// TestEngineOutage cuts hone off from the engine in the middle of a build: that is not a failure of the build, which
// waits and continues on its own.
func TestEngineOutage(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	endpoint, err := docker.Find()
	if err != nil {
		t.Fatal(err)
	}
	path, local := strings.CutPrefix(endpoint.Host, "unix://")
	if !local {
		t.Skip("the engine has no socket")
	}
	way, err := proxy.NewWire(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(way.Close)
	p.env = append(p.env, "DOCKER_HOST=tcp://"+way.Address())
	p.replace("web.Dockerfile", "COPY site /www", "COPY site /www\nRUN echo begun; sleep 5")
	s := p.up()
	s.says(`begun`)
	way.Cut()
	s.says(`The update continues when it answers`)
	s.becomes("web", "waiting for the engine", func(r api.Resource) bool {
		return r.Waiting != nil && r.Waiting.Reason == "waiting-for-engine"
	})
	if err := way.Join(); err != nil {
		t.Fatal(err)
	}
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	if text := s.out.String(); strings.Contains(text, "Build Failed") {
		t.Errorf("an outage counts as a failure of the build:\n%s", text)
	}
}
