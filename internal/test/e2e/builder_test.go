package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
)

// elsewhere is a project whose images are built without a container engine: one is based on the other, and writes its cache into its own
// context. Updates in place need a shell, which the image has.
const elsewhere = `
-- Tiltfile --
docker_build('base-$NS', 'base')
docker_build('app-$NS', 'app', live_update=[sync('app', '/src')], cache_from='type=local,src=app/.cache', cache_to='type=local,dest=app/.cache,mode=max')
k8s_yaml('app.yaml')
-- base/Dockerfile --
FROM busybox
RUN echo base > /base.txt
-- app/Dockerfile --
FROM base-$NS
COPY . /src
CMD ["sh", "-c", "cat /base.txt /src/text; exec sleep 1000"]
-- app/text --
one
-- app.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: $NS}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: app-$NS}]}
`

// TestBuilderElsewhere deploys with a BuildKit daemon and no container engine; builds nothing again; and names the fault where the daemon is
// not there, or has no name.
func TestBuilderElsewhere(t *testing.T) {
	t.Parallel()
	d := buildkittest.Start(t)
	buildkittest.Busybox(t)
	p := newProject(t, elsewhere)
	p.env = append(p.env, "DOCKER_HOST=unix://"+t.TempDir()+"/dead.sock", "HONE_BUILDER=unix://"+d.Socket)
	r := p.ci("--timeout", "2m")
	r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
	for _, want := range []string{"Builder: unix://" + d.Socket, "Already in local registry localhost:5000"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("standard error lacks %q:\n%s", want, r.stderr)
		}
	}
	if strings.Contains(r.stderr, "dead.sock") {
		t.Errorf("the engine was asked for:\n%s", r.stderr)
	}
	if !strings.Contains(r.stderr, "There is no cache in "+filepath.Join(p.dir, "app/.cache")+" yet") {
		t.Errorf("the first build has a cache:\n%s", r.stderr)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "app/.cache/index.json")); err != nil {
		t.Error(err)
	}
	image := p.imageOfApp()
	if out, code := p.run("preview", "--exit-code"); code != 0 {
		t.Errorf("preview of what is deployed: %d\n%s", code, out)
	}
	p.write("app/text", "two\n")
	p.ci("--timeout", "2m").ended(0, "ok", "(Tiltfile): ok", "app: ok")
	if now := p.imageOfApp(); now == image {
		t.Errorf("after an edit the image is still %s", now)
	}
	for at, want := range map[string]string{
		"unix:///nowhere/buildkitd.sock": "cannot reach the builder unix:///nowhere/buildkitd.sock",
		"unheard-of":                     `there is no builder "unheard-of"`,
		"ftp://x":                        "is not the address of a builder",
	} {
		out, code := p.run("ci", "--port", "0", "--builder", at)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("--builder %s: %d\n%s", at, code, out)
		}
	}
}

// imageOfApp returns the image of the Deployment app.
func (p *project) imageOfApp() string {
	p.t.Helper()
	containers, _, err := unstructured.NestedSlice(p.object("apps", "v1", "deployments", "app").Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		p.t.Fatalf("containers %v: %v", containers, err)
	}
	image, _ := containers[0].(map[string]any)["image"].(string)
	return image
}
