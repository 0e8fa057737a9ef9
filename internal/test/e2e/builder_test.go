package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/internal/update/imagebuild/containerd"
	"github.com/hone-dev/hone/pkg/api"
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
	tried := p.tried("base-"+p.namespace, "app-"+p.namespace)
	r := p.ci("--timeout", "2m")
	r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
	p.deployed(tried["app-"+p.namespace])
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
	tried = p.tried("app-" + p.namespace)
	p.says(0, []string{"preview", "--build", "-o", "plan=next.plan", "--namespace", p.namespace})
	p.says(0, []string{"deploy", "next.plan", "--port", "0"})
	p.deployed(tried["app-"+p.namespace])
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

// tried previews a deploy whose images a builder makes only for that, and returns the images, which are nowhere afterwards.
func (p *project) tried(want ...string) map[string]api.PlanImage {
	p.t.Helper()
	out, err := p.command("preview", "--build", "-o", "json", "--namespace", p.namespace).Output()
	if err != nil {
		p.t.Fatalf("preview --build: %v\n%s", err, out)
	}
	var plan api.Plan
	if err := json.Unmarshal(out, &plan); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	images := map[string]api.PlanImage{}
	for _, im := range plan.Images {
		images[im.Image] = im
	}
	for _, name := range want {
		im := images[name]
		if im.Source != api.ImageBuilt || !strings.HasPrefix(im.Digest, "sha256:") || im.Registry != "" {
			p.t.Errorf("the plan has %s as %+v", name, im)
		}
		if digest, inNode := p.whereIs(im.Reference); digest != "" || inNode {
			p.t.Errorf("the registry has %s as %q, the node has it: %v", im.Reference, digest, inNode)
		}
	}
	return images
}

// deployed checks that the Deployment app runs an image that was tried, by its digest.
func (p *project) deployed(tried api.PlanImage) {
	p.t.Helper()
	if now := p.imageOfApp(); now != tried.Reference {
		p.t.Errorf("the image is %s, and the preview said %s", now, tried.Reference)
	}
	if digest, inNode := p.whereIs(tried.Reference); digest != tried.Digest || !inNode {
		p.t.Errorf("the registry has %s as %q, and the preview said %s; the node has it: %v", tried.Reference, digest, tried.Digest, inNode)
	}
}

// whereIs returns the digest that an image has in the registry in its name, if that has it, and whether the node's containerd has it.
func (p *project) whereIs(ref string) (digest string, inNode bool) {
	p.t.Helper()
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		p.t.Fatal(err)
	}
	if strings.HasPrefix(ref, buildkittest.Registry) {
		tag, err := name.NewTag(ref)
		if err != nil {
			p.t.Fatal(err)
		}
		if head, err := remote.Head(tag); err == nil {
			digest = head.Digest.String()
		}
	}
	socket := imagebuild.Probe(p.t.Context()).ContainerdSocket
	if socket == "" {
		return digest, false
	}
	node, err := containerd.Dial(socket)
	if err != nil {
		p.t.Fatal(err)
	}
	defer node.Close()
	if inNode, err = node.Has(p.t.Context(), named.String()); err != nil {
		p.t.Fatal(err)
	}
	return digest, inNode
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
