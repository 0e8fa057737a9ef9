package e2e

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// late is an image whose build context is made by another resource.
var late = `
-- Tiltfile --
local_resource('site', './make.sh', auto_init=False, deps=['make.sh'])
docker_build('late', 'out', dockerfile='late.Dockerfile')
k8s_yaml('late.yaml')
k8s_resource('late', port_forwards='$PORT0:80')
-- make.sh --
#!/bin/sh
mkdir -p out
echo made > out/index.html
-- late.Dockerfile --
FROM busybox
COPY index.html /www/
CMD ["httpd", "-f", "-h", "/www"]
-- late.yaml --
` + deployment("late", `
terminationGracePeriodSeconds: 0
containers:
- {name: late, image: late, ports: [{containerPort: 80}]}
`)

// TestContextMadeLater builds an image whose context does not exist when the Tiltfile is evaluated: a build before it
// exists fails and names it, and its creation is a change.
func TestContextMadeLater(t *testing.T) {
	t.Parallel()
	t.Run("after the resource that makes it", func(t *testing.T) {
		t.Parallel()
		p := newProject(t, strings.NewReplacer("auto_init=False, ", "", "port_forwards", "resource_deps=['site'], port_forwards").Replace(late))
		s := p.up()
		s.ready("late")
		s.serves(p.ports[0], "/", "made")
		if r, err := s.resource("late"); err != nil || len(r.BuildHistory) != 1 {
			t.Errorf("builds: %+v (%v)", r.BuildHistory, err)
		}
	})
	t.Run("missing at first", func(t *testing.T) {
		t.Parallel()
		p := newProject(t, late)
		s := p.up()
		r := s.becomes("late", "failed", func(r api.Resource) bool { return r.UpdateStatus == "error" })
		if got := r.BuildHistory[0].Error; !strings.Contains(got, "/out") || !strings.Contains(got, "does not exist") {
			t.Errorf("the build says %q", got)
		}
		s.triggers("site")
		s.ready("late")
		s.serves(p.ports[0], "/", "made")
	})
}
