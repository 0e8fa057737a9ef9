package e2e

import (
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// mended is a service whose program reads its text over and over, and ends with code 3 at a mistake in it.
var mended = `
-- Tiltfile --
docker_build('mended', '.', dockerfile='mended.Dockerfile', only=['site'], live_update=[sync('site', '/www')])
k8s_yaml('mended.yaml')
k8s_resource('mended', port_forwards='$PORT0:80')
-- mended.Dockerfile --
FROM busybox
COPY site /www
CMD ["sh", "-c", "httpd -h /www; while sleep 0.1; do grep -q bug /www/index.html && { echo found a bug; exit 3; }; done"]
-- site/index.html --
one
-- mended.yaml --
` + deployment("mended", `
terminationGracePeriodSeconds: 0
containers:
- {name: main, image: mended}
`)

// TestMendAfterCrash saves a mistake that ends the container, and a mend while the kubelet pauses before it starts the container again: the
// update waits for that start and says so, and no image is built.
func TestMendAfterCrash(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"auto", "exec"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			mendAfterCrash(t, mode)
		})
	}
}

func mendAfterCrash(t *testing.T, mode string) {
	p := newProject(t, mended)
	s := p.up("--update-mode", mode)
	defer s.asDeclared()
	s.ready("mended")
	s.serves(p.ports[0], "/", "one")
	pod := current(t, s, "mended")
	p.write("site/index.html", "bug")
	s.becomes("mended", "in back-off", func(r api.Resource) bool { return strings.Contains(r.RuntimeError, "CrashLoopBackOff") })
	p.write("site/index.html", "two")
	s.says(`1 File Changed: \[site/index.html\]; the update waits for container main to start again: it is in back-off for \d+s`)
	s.serves(p.ports[0], "/", "two")
	s.ready("mended")
	if now := current(t, s, "mended"); now.Name != pod.Name {
		t.Error("the pod was replaced")
	}
	if said := s.out.String(); strings.Count(said, "Building Dockerfile: [mended]") != 2 || strings.Contains(said, "Falling back") { // heading and sum of the first build
		t.Errorf("an image was built:\n%s", said)
	}
}
