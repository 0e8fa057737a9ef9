package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/pkg/api"
)

// pictures is a project with an image of a Dockerfile, one of a command, and one that a chart uses.
const pictures = `
-- Tiltfile --
docker_build('plain', 'plain', build_args={'VERSION': '1'})
custom_build('made', 'DOCKER_BUILDKIT=0 docker build -q -t $EXPECTED_REF made', deps=['made'])
docker_build('charted', 'charted')
k8s_yaml(['plain.yaml', 'made.yaml', helm('chart')])
-- plain/Dockerfile --
FROM busybox
ARG VERSION
COPY . /src
-- plain/handler.go --
one
-- plain/other.go --
one
-- made/Dockerfile --
FROM busybox
COPY . /src
-- made/file --
one
-- charted/Dockerfile --
FROM busybox
COPY . /src
-- charted/file --
one
-- chart/Chart.yaml --
apiVersion: v2
name: charted
version: 1.0.0
-- chart/templates/app.yaml --
` + `apiVersion: apps/v1
kind: Deployment
metadata: {name: charted}
spec: {replicas: 0, selector: {matchLabels: {app: charted}}, template: {metadata: {labels: {app: charted}}, spec: {containers: [{name: app, image: charted}]}}}
-- plain.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: plain}
spec: {replicas: 0, selector: {matchLabels: {app: plain}}, template: {metadata: {labels: {app: plain}}, spec: {containers: [{name: app, image: plain}]}}}
-- made.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: made}
spec: {replicas: 0, selector: {matchLabels: {app: made}}, template: {metadata: {labels: {app: made}}, spec: {containers: [{name: app, image: made}]}}}
`

// TestPreviewSaysWhy deploys images and previews the next deploy: nothing changes. Of each edit, the preview says which image it
// concerns, and why. With --build, it shows the images that the next deploy uses.
func TestPreviewSaysWhy(t *testing.T) {
	t.Parallel()
	p := newProject(t, pictures)
	p.env = append(p.env, "PATH="+helmFolder(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Cleanup(func() { p.run("down", "--namespace", p.namespace) })
	preview := func(code int, want ...string) {
		t.Helper()
		p.says(code, []string{"preview", "--exit-code", "--namespace", p.namespace}, want...)
	}
	planned := func(args ...string) map[string]api.PlanImage {
		t.Helper()
		out, err := p.command(append([]string{"preview", "-o", "json", "--namespace", p.namespace}, args...)...).Output() // the exit code is 0
		if err != nil {
			t.Fatal(err)
		}
		var plan api.Plan
		if err := json.Unmarshal(out, &plan); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		images := map[string]api.PlanImage{}
		for _, im := range plan.Images {
			images[im.Image] = im
		}
		return images
	}
	only := func(image string, inputs ...api.ImageInput) {
		t.Helper()
		got := planned()
		if len(got) != 1 || got[image].Source != api.ImageToBuild || len(got[image].Inputs) != len(inputs) {
			t.Errorf("the plan is %+v, want %s because of %v", got, image, inputs)
			return
		}
		for i, in := range got[image].Inputs {
			if in != inputs[i] {
				t.Errorf("%s differs by %v, want %v", image, got[image].Inputs, inputs)
			}
		}
	}
	preview(2, `image +plain: never built on this machine`, `image +made: never`, `image +charted: never`, `: 3 to create`)
	p.deploys(0)
	preview(0, `^\S+: 3 unchanged\n$`)
	if got := planned(); len(got) > 0 {
		t.Errorf("images of an unchanged project: %+v", got)
	}

	p.write("plain/handler.go", "two\n")
	preview(2, `image +plain: built, because handler\.go changed\n`, `: 1 to update, 2 unchanged\n`)
	only("plain", api.ImageInput{Kind: api.InputFile, Name: "handler.go", Change: api.InputChanged})
	p.write("plain/other.go", "two\n")
	p.replace("Tiltfile", "'VERSION': '1'", "'VERSION': '2'")
	preview(2, `image +plain: built, because argument VERSION changed, handler\.go and 1 other file changed\n`)
	p.says(0, []string{"deploy", "--yes", "--port", "0", "--namespace", p.namespace}, `image +plain: built, because argument VERSION changed`)
	preview(0, `: 3 unchanged\n`)

	p.write("made/new", "")
	preview(2, `image +made: built, because made/new is new\n`, `: 1 to update, 2 unchanged\n`)
	only("made", api.ImageInput{Kind: api.InputFile, Name: "made/new", Change: api.InputNew})
	p.write("charted/file", "two\n")
	p.deploys(0)
	p.write("charted/file", "three\n")
	only("charted", api.ImageInput{Kind: api.InputFile, Name: "file", Change: api.InputChanged})

	// It builds the image, and deploys nothing.
	before := p.live("deployment/charted")
	built := planned("--build")
	if len(built) != 3 || built["charted"].Source != api.ImageBuilt || built["charted"].ID == "" || built["plain"].Reason != "" {
		t.Errorf("the images of --build: %+v", built)
	}
	if after := p.live("deployment/charted"); after.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("a preview has changed the Deployment")
	}
	preview(2, `\.image: \S+:hone-[0-9a-f]{16} → `+built["charted"].Reference+`\n`, `: 1 to update, 2 unchanged\n`)
	p.says(0, []string{"deploy", "--yes", "--port", "0", "--namespace", p.namespace}, `Nothing has changed since \S+ was built: it is used again`)
	preview(0, `: 3 unchanged\n`)
}

// TestPreviewOfComposeImages previews services of Compose: after the first start, nothing differs; after an edit, the image says why.
func TestPreviewOfComposeImages(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, `
-- Tiltfile --
docker_compose('compose.yml', project_name='$PROJECT')
docker_build('hone-e2e/$PROJECT', 'web')
-- compose.yml --
services:
  web:
    image: hone-e2e/$PROJECT
    command: ["sleep", "100000"]
    stop_grace_period: 0s
-- web/Dockerfile --
FROM busybox
COPY . /src
-- web/handler.go --
one
`)
	preview := []string{"preview", "--exit-code"}
	p.says(2, preview, `image +hone-e2e/\S+: never built on this machine\n`, `\+ create  compose/web`)
	p.says(0, []string{"ci", "--port", "0"})
	if out, code := p.run(preview...); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	p.write("web/handler.go", "two\n")
	p.says(2, preview, `image +hone-e2e/\S+: built, because handler\.go changed\n`, `\$ run  compose/web`)
	p.says(2, append(preview, "--build"), `image +hone-e2e/\S+: built, because handler\.go changed  sha256:[0-9a-f]{64}\n`)
	p.says(0, []string{"ci", "--port", "0"})
	p.says(0, preview)
}

// TestPreviewOfComposeBuilds previews a service whose image Compose itself builds: an edit of one of its inputs is told as for docker_build.
func TestPreviewOfComposeBuilds(t *testing.T) {
	t.Parallel()
	p := newComposeProject(t, `
-- Tiltfile --
docker_compose('compose.yml', project_name='$PROJECT')
-- compose.yml --
services:
  web:
    image: hone-e2e/$PROJECT
    build: {context: web, args: {VERSION: "1"}}
    command: ["sleep", "100000"]
    stop_grace_period: 0s
-- web/Dockerfile --
FROM busybox
ARG VERSION
COPY . /src
-- web/.dockerignore --
left-out
-- web/left-out --
-- web/handler.go --
one
`)
	image := "hone-e2e/" + p.name
	t.Cleanup(func() { _ = p.engine.Remove(context.WithoutCancel(t.Context()), image) })
	preview := []string{"preview", "--exit-code"}
	p.says(2, preview, `image +`+image+`: never built on this machine\n`, `\+ create  compose/web`)
	for _, change := range []struct {
		why  string
		make func()
	}{
		{"handler.go changed", func() { p.write("web/handler.go", "two\n") }},
		{"argument VERSION changed", func() { p.replace("compose.yml", `VERSION: "1"`, `VERSION: "2"`) }},
		{"its Dockerfile changed", func() { p.replace("web/Dockerfile", "COPY", "ENV A=b\nCOPY") }},
		{"its options changed", func() { p.replace("compose.yml", "{context: web,", "{context: web, labels: [a=b],") }},
	} {
		p.says(0, []string{"ci", "--port", "0"})
		p.write("web/left-out", change.why)
		if out, code := p.run(preview...); code != 0 || strings.Contains(out, "image ") {
			t.Errorf("after a start, exit code %d\n%s", code, out)
		}
		change.make()
		p.says(2, preview, `image +`+image+`: built, because `+regexp.QuoteMeta(change.why)+`\n`, `\$ run  compose/web`)
	}
}
