package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/update/imagebuild"
)

// steady is a project with one image, whose content is its own.
var steady = `
-- Tiltfile --
docker_build('app-$NS', 'app')
k8s_yaml('app.yaml')
-- app/Dockerfile --
FROM busybox
COPY . /src
CMD ["sleep", "1000"]
-- app/text --
$NS
-- app.yaml --
` + deployment("app", `
terminationGracePeriodSeconds: 0
containers: [{name: app, image: app-$NS}]
`)

// TestUnchanged deploys a project again and again while nothing changes. Nothing is built, loaded or applied as long as the image is where the
// pods get it from, and it is built again, with the same digest, when it has gone from there.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	loses := func(argv ...string) func(*project, string) {
		return func(p *project, ref string) {
			if out, err := exec.CommandContext(p.t.Context(), argv[0], append(argv[1:], ref)...).CombinedOutput(); err != nil {
				p.t.Fatalf("%q: %v\n%s", argv, err, out)
			}
		}
	}
	engine := loses("docker", "rmi", "--force")
	node := func(p *project, ref string) {
		loses("ctr", "--address", imagebuild.Probe(p.t.Context()).ContainerdSocket, "--namespace", "k8s.io", "images", "rm")(p, "docker.io/library/"+ref)
	}
	newNodeProject := func(t *testing.T, archive string) *project {
		p := newProject(t, archive)
		p.env = append(p.env, "KUBECONFIG="+p.seesNoRegistry())
		return p
	}
	for _, tc := range []struct {
		name string
		make func(t *testing.T, archive string) *project
		// there is said of the image that is where the pods get it from.
		there string
		// built has the image by accident, and gone is where the pods get it from; nil is none.
		built, gone func(p *project, ref string)
	}{
		{"registry", newProject, "Already in local registry", engine, nil},
		{"node", newNodeProject, "Already in the node's containerd", engine, node},
		{"engine", newDockerProject, "Nothing to push", nil, engine},
		{"builder and node", func(t *testing.T, archive string) *project {
			d := buildkittest.Start(t)
			buildkittest.Busybox(t)
			p := newNodeProject(t, archive)
			p.env = append(p.env, "DOCKER_HOST=unix://"+t.TempDir()+"/dead.sock", "HONE_BUILDER=unix://"+d.Socket)
			return p
		}, "Already in the node's containerd", nil, node},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := tc.make(t, steady)
			r := p.ci("--timeout", "2m")
			r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
			if len(r.ran()) == 0 {
				t.Errorf("the first run builds nothing:\n%s", r.stderr)
			}
			_, took := r.update("app")
			t.Logf("new, the update took %s, and the run %s", took, r.took)
			image, generation := p.imageOfApp(), p.object("apps", "v1", "deployments", "app").GetGeneration()
			for _, then := range []struct {
				name   string
				do     func()
				builds bool
			}{
				{"nothing", func() {}, false},
				{"a file is written once more", func() { p.write("app/text", "$NS\n") }, false},
				{"the engine loses it", func() { call(tc.built, p, image) }, false},
				{"the pods cannot get it", func() { call(tc.gone, p, image) }, tc.gone != nil},
				{"nothing, after that", func() {}, false},
			} {
				then.do()
				r := p.ci("--timeout", "2m")
				r.ended(0, "ok", "(Tiltfile): ok", "app: ok")
				ran, there := r.ran(), then.builds || strings.Contains(r.stderr, tc.there)
				if (len(ran) > 0) != then.builds || !there {
					t.Errorf("%s: it runs %q\n%s", then.name, ran, r.stderr)
				}
				_, took := r.update("app")
				t.Logf("%s: the update took %s, and the run %s", then.name, took, r.took)
				if now := p.imageOfApp(); now != image {
					t.Errorf("%s: the image is %s, before %s", then.name, now, image)
				}
			}
			s := p.up()
			s.ready("app")
			s.says("was built by an earlier session: nothing has changed since")
			s.stop()
			if now := p.object("apps", "v1", "deployments", "app").GetGeneration(); now != generation {
				t.Errorf("the Deployment was changed: generation %d, before %d", now, generation)
			}
		})
	}
}

// call calls a function, unless it is nil.
func call(do func(*project, string), p *project, ref string) {
	if do != nil {
		do(p, ref)
	}
}
