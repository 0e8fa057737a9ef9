package e2e

import (
	"slices"
	"testing"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
)

// TestCheckCache builds images, and then checks what hone remembers of them: one gives the same content again, the other does not. No
// image is left behind.
func TestCheckCache(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
docker_build('steady', 'steady')
docker_build('moving', 'moving')
custom_build('commanded', 'DOCKER_BUILDKIT=0 docker build -q -t $EXPECTED_REF steady', deps=['steady'])
custom_build('whole', 'DOCKER_BUILDKIT=0 docker build -q -t $EXPECTED_REF steady', deps=['steady'], deps_complete=True)
custom_build('tagged', 'DOCKER_BUILDKIT=0 docker build -q -t $EXPECTED_REF steady', deps=['steady'], tag='$NS')
k8s_yaml('apps.yaml')
-- steady/Dockerfile --
FROM busybox
COPY . /src
RUN mkdir /made && echo text > /made/file
-- moving/Dockerfile --
FROM busybox
RUN cat /proc/uptime > /stamp; tr -dc a-z < /dev/urandom | head -c 12 > /name
-- apps.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: apps}
spec:
  replicas: 0
  selector: {matchLabels: {app: apps}}
  template:
    metadata: {labels: {app: apps}}
    spec: {containers: [{name: a, image: steady}, {name: b, image: moving}, {name: c, image: commanded}, {name: d, image: whole}, {name: e, image: tagged}]}
`)
	engine := newEngine(t)
	ids := func() (out []string) {
		t.Helper()
		images, err := engine.Images(t.Context(), "dev.hone.image")
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range images {
			if slices.Contains([]string{"steady", "moving", "commanded", "whole", "tagged"}, im.Labels["dev.hone.image"]) {
				out = append(out, im.ID)
			}
		}
		slices.Sort(out)
		return out
	}
	check := []string{"doctor", "--check-cache=100", "--namespace", p.namespace}
	p.says(0, check, `could be used again +0 images, 0 of them checked`, `\n  steady +skipped: never built on this machine\n`, `\n  whole +skipped: never`)
	p.deploys(0)
	before := ids()
	p.says(0, check, `could be used again +5 images, 4 of them checked`, `\n  whole +a new build has the same content\n`,
		`\n  tagged +skipped: its command names the image\n`, `\n  steady +a new build has the same content\n`, `\n  commanded +a new build has the same content\n`,
		`\n  moving +✖ a new build of the same inputs differs: 2 files\n`, `/name +\(a generated file: RUN cat `, `/stamp +\(a time stamp or another number: RUN cat `)
	if after := ids(); !slices.Equal(before, after) {
		t.Errorf("the engine had the images %q, now %q", before, after)
	}
	p.says(0, []string{"doctor", "--check-cache", "--namespace", p.namespace}, `5 images, 1 of them checked`)
	p.says(0, []string{"preview", "--exit-code", "--namespace", p.namespace}, `: 1 unchanged\n`)
	p.write("steady/new", "")
	p.says(0, check, `could be used again +1 image, 1 of them checked`, `\n  steady +skipped: new is new\n`)
}

// TestCheckCacheElsewhere is TestCheckCache for images that a BuildKit daemon builds, with no container engine: the remembered ones are read in the
// registry or in the node.
func TestCheckCacheElsewhere(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*project){
		"registry": func(*project) {},
		"node":     func(p *project) { p.env = append(p.env, "KUBECONFIG="+p.seesNoRegistry()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := buildkittest.Start(t)
			buildkittest.Busybox(t)
			p := newProject(t, `
-- Tiltfile --
docker_build('base-$NS', 'steady')
docker_build('steady-$NS', 'app')
docker_build('moving-$NS', 'moving')
docker_build('wide-$NS', 'steady', platform='linux/amd64,linux/arm64')
k8s_yaml('apps.yaml')
k8s_resource('wide', auto_init=False)
-- steady/Dockerfile --
FROM busybox
COPY . /src
-- app/Dockerfile --
FROM base-$NS
RUN mkdir /made && echo text > /made/file
-- moving/Dockerfile --
FROM busybox
RUN tr -dc a-z < /dev/urandom | head -c 12 > /name
-- apps.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: apps}
spec:
  replicas: 0
  selector: {matchLabels: {app: apps}}
  template:
    metadata: {labels: {app: apps}}
    spec: {containers: [{name: a, image: steady-$NS}, {name: b, image: moving-$NS}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: wide}
spec:
  replicas: 0
  selector: {matchLabels: {app: wide}}
  template:
    metadata: {labels: {app: wide}}
    spec: {containers: [{name: a, image: wide-$NS}]}
`)
			change(p)
			p.env = append(p.env, "DOCKER_HOST=unix://"+t.TempDir()+"/dead.sock")
			at := []string{"--builder", "unix://" + d.Socket, "--namespace", p.namespace}
			if out, code := p.run(append([]string{"ci", "--port", "0", "apps"}, at...)...); code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			p.says(0, append([]string{"doctor", "--check-cache=100"}, at...), `Builder: unix://`, `could be used again +3 images, 3 of them checked`,
				`\n  base-\S+ +a new build has the same content\n`, `\n  steady-\S+ +a new build has the same content\n`, `\n  wide-\S+ +skipped: never built on this machine\n`,
				`\n  moving-\S+ +✖ a new build of the same inputs differs: 1 file\n`, `/name +\(a generated file: RUN tr `)
		})
	}
}
