package e2e

import (
	"fmt"
	"os"
	"path/filepath"
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

// mendedService is the same service, in Compose.
const mendedService = `
-- Tiltfile --
docker_compose('compose.yml', project_name='$PROJECT')
docker_build('hone-e2e/$PROJECT', '.', dockerfile='web.Dockerfile', only=['site'], live_update=[sync('site', '/www')])
-- compose.yml --
services:
  web:
    image: hone-e2e/$PROJECT
    ports: ["127.0.0.1:$PORT0:80"]
    stop_grace_period: 0s
-- web.Dockerfile --
FROM busybox
COPY --chown=1000 site /www
CMD ["sh", "-c", "httpd -h /www; while sleep 0.1; do grep -q bug /www/index.html && { echo found a bug; exit 3; }; done"]
-- site/index.html --
one
-- site/old/leaf --
one
`

// TestComposeMendAfterCrash saves a mistake that ends a container of Compose, which keeps its files, and a mend: it goes into the
// container while it stands, keeps the owner of the file, and starts the container. A mend that also deletes a file needs an image. The
// crashed process may have begun before the newest files arrived: hone starts the container once more, so that no mend is lost.
func TestComposeMendAfterCrash(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, mendedService)
	s := p.up()
	defer s.asDeclared()
	s.serves(p.ports[0], "/", "one")
	first := p.only("web").ID
	crash := func() {
		t.Helper()
		began := p.only("web").StartedAt
		p.write("site/index.html", "bug")
		s.await("another crash after hone has started it with the newest files", func() error {
			if c := p.only("web"); c.Status != "exited" || c.StartedAt.Equal(began) {
				return fmt.Errorf("the container: %+v", c)
			}
			return nil
		})
		s.becomes("web", "crashed", func(r api.Resource) bool { return strings.Contains(r.RuntimeError, "exited with code 3") })
	}
	crash()
	p.write("site/index.html", "two")
	p.write("site/new/leaf", "new")
	s.serves(p.ports[0], "/", "two")
	s.serves(p.ports[0], "/new/leaf", "new")
	s.ready("web")
	var owners strings.Builder
	err := p.engine.ContainerExec(t.Context(), first, []string{"stat", "-c", "%u", "/www/index.html", "/www/new/leaf"}, nil, &owners)
	if err != nil || owners.String() != "1000\n1000\n" {
		t.Errorf("the owners of the files: %q, %v", owners.String(), err)
	}
	if now := p.only("web").ID; now != first {
		t.Error("the container was replaced")
	}
	if said := s.out.String(); strings.Contains(said, "Falling back") {
		t.Errorf("an image was built:\n%s", said)
	}
	crash()
	// Both changes count as one: without a pause, hone may have started the container with the mend before it notices the deletion.
	pause := func(verb string) {
		t.Helper()
		if out, code := p.run(verb, "--port", fmt.Sprint(s.port)); code != 0 {
			t.Fatalf("%s: %d %s", verb, code, out)
		}
	}
	pause("pause")
	if err := os.Remove(filepath.Join(p.dir, "site/old/leaf")); err != nil {
		t.Fatal(err)
	}
	p.write("site/index.html", "three")
	pause("resume")
	s.serves(p.ports[0], "/", "three")
	s.says("Falling back to a new image: container .* has crashed, and no command deletes /www/old/leaf in it")
	s.ready("web")
}
