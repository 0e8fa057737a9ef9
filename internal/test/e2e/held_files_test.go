package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hone-dev/hone/pkg/api"
)

// replacePod deletes the pod of a resource, and returns once another one is ready.
func (s *session) replacePod(name string) {
	s.p.t.Helper()
	before := current(s.p.t, s, name).Name
	s.p.kubectl("delete", "pod", before, "--grace-period=0", "--force")
	s.becomes(name, "with another pod than "+before, func(r api.Resource) bool {
		return slices.ContainsFunc(r.Pods, func(p api.Pod) bool { return p.Current && p.Ready && p.Name != before })
	})
}

// TestFilesComeBack replaces the pod of a resource whose files have been changed in place, while another change waits: the new pod
// gets the files again, and the other change still waits.
func TestFilesComeBack(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.serves(p.ports[0], "/", "one")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")

	fails := func(r api.Resource) bool { return r.UpdateStatus == "error" }
	p.replace("web.Dockerfile", "COPY conf /conf", "COPY conf /conf\nRUN exit 3")
	s.becomes("web", "failing to build", fails)
	s.replacePod("web")
	s.serves(p.ports[0], "/", "two")
	s.becomes("web", "failing to build, once its files are back", fails)
	p.replace("web.Dockerfile", "\nRUN exit 3", "")
	s.ready("web")
	s.serves(p.ports[0], "/", "two")

	p.write("site/index.html", "three")
	s.serves(p.ports[0], "/", "three")
	s.hone("pause")
	p.write("conf/settings", "a=2\n")
	s.waits("web", "paused")
	s.replacePod("web")
	s.serves(p.ports[0], "/", "three")
	s.waits("web", "paused")
	s.hone("resume")
	s.ready("web")
	s.serves(p.ports[0], "/", "three")
	s.asDeclared()
}

// TestFallBackToTheSameImage takes a change back together with one that needs a new image. That image equals the one that runs, so the
// Deployment stays as it is, but its container has the files of an update in place: the rollout restarts. A container without such files stays.
func TestFallBackToTheSameImage(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("web.Dockerfile", "COPY conf /conf\n", "")
	p.ownContent()
	s := p.up()
	s.serves(p.ports[0], "/", "one")
	pod := current(t, s, "web").Name
	p.write("conf/settings", "a=2\n")
	s.says(`Falling back to a new image: .*fall_back_on`)
	s.builds("web", 2)
	s.ready("web")
	if now := current(t, s, "web").Name; now != pod {
		t.Errorf("pod %s took the place of %s, although its files are the image's", now, pod)
	}
	p.write("site/index.html", "two\n")
	s.serves(p.ports[0], "/", "two")
	p.write("site/index.html", "one\n")
	p.write("conf/settings", "a=3\n")
	s.says(`Restarting the rollout of deployment/web: its containers have files that its image does not have`)
	s.serves(p.ports[0], "/", "one")
	s.ready("web")
}

// TestCommandLeavesThePod does the same with a workload that a command applies: the command leaves the pod as it is, so hone replaces it.
func TestCommandLeavesThePod(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_yaml('web.yaml')", `k8s_custom_deploy('web', image_deps=['web'], deps=[], delete_cmd='kubectl delete -n $NS --ignore-not-found -f web.yaml',
    apply_cmd='sed "s|image: web|image: $TILT_IMAGE_0|" web.yaml | kubectl apply -n $NS -o yaml -f -')`)
	p.replace("web.Dockerfile", "COPY conf /conf\n", "")
	p.ownContent()
	s := p.up()
	defer s.asDeclared()
	s.serves(p.ports[0], "/", "one")
	pod := current(t, s, "web").Name
	p.write("site/index.html", "two\n")
	s.serves(p.ports[0], "/", "two")
	p.write("site/index.html", "one\n")
	p.write("conf/settings", "a=3\n")
	s.says("Deleting pod " + pod + ": it has files that its image does not have")
	s.serves(p.ports[0], "/", "one")
	s.ready("web")
}

// TestDockerfileChangesWhileItBuilds changes the Dockerfile and the arguments of docker_build at a random moment of a build of that
// image: in the end the container runs an image of the last declaration.
func TestDockerfileChangesWhileItBuilds(t *testing.T) {
	t.Parallel()
	rounds := 20
	if testing.Short() {
		rounds = 2
	}
	p := newProject(t, web)
	p.replace("Tiltfile", "docker_build('web', '.',", "docker_build('web', '.', build_args={'ARG': 'arg0'},")
	p.replace("web.Dockerfile", "CMD", "ARG ARG\nRUN cat /conf/settings >/dev/null && sleep 1\nRUN echo file0 $ARG >/www/stamp\nCMD")
	s := p.up()
	file, arg := 0, 0
	declare := func() {
		if rand.IntN(2) == 0 {
			p.replace("web.Dockerfile", fmt.Sprintf("file%d ", file), fmt.Sprintf("file%d ", file+1))
			file++
			return
		}
		p.replace("Tiltfile", fmt.Sprintf("'arg%d'", arg), fmt.Sprintf("'arg%d'", arg+1))
		arg++
	}
	for round := range rounds {
		s.becomes("web", "building", func(r api.Resource) bool { return r.CurrentBuild != nil })
		time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond) // at a random moment
		declare()
		s.serves(p.ports[0], "/stamp", fmt.Sprintf("file%d arg%d", file, arg))
		s.ready("web")
		p.write("conf/settings", fmt.Sprint(round)) // which begins the next build
	}
}

// TestFilesChangeWhileStopped reverts in-place changes while hone is stopped, and changes a file after hone was killed. The pod already runs the right image, so it stays;
// but its files must match the reverted ones.
func TestFilesChangeWhileStopped(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.serves(p.ports[0], "/", "one")
	pod := current(t, s, "web").Name
	p.write("site/index.html", "two")
	p.write("site/made.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.serves(p.ports[0], "/made.html", "two")
	s.stop()
	p.write("site/index.html", "one\n")
	if err := os.Remove(filepath.Join(p.dir, "site/made.html")); err != nil {
		t.Fatal(err)
	}
	s = p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	s.await("the deletion of a file", func() error {
		if text, err := fetch(p.ports[0], "/made.html"); err == nil {
			return fmt.Errorf("it says %q", text)
		}
		return nil
	})
	if got := current(t, s, "web").Name; got != pod {
		t.Errorf("pod %s took the place of %s, although its image is the same", got, pod)
	}

	p.write("site/made.html", "three")
	s.serves(p.ports[0], "/made.html", "three")
	check(t, s.cmd.Process.Kill())
	<-s.done
	p.write("site/made.html", "four")
	s = p.up()
	s.serves(p.ports[0], "/made.html", "four")
}

// ownContent makes the image of a project differ from those of other projects: of two images that are built from the same content at the
// same time, by tests, BuildKit later takes either.
func (p *project) ownContent() { p.write("site/project", p.namespace) }
