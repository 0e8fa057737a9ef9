package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/internal/update/imagebuild"
	"github.com/hone-dev/hone/pkg/api"
)

// sharedImages is a project with three images: one is based on another and is updated in place, and a command builds the third. $ONE stands
// for the name of the first clone, $SHARED for the call that says how they share images.
const sharedImages = `
-- Tiltfile --
$SHARED
docker_build('app-$ONE', 'app', build_args={'WHO': 'hone'}, live_update=[sync('app', '/src')])
docker_build('base-$ONE', 'base')
custom_build('tool-$ONE', 'DOCKER_BUILDKIT=0 docker build -t "$EXPECTED_REF" --label dev.hone.image=tool-$ONE tool', ['tool'], deps_complete=True)
k8s_yaml('app.yaml')
-- tool/Dockerfile --
FROM busybox
COPY data /data
-- tool/data --
1
-- base/Dockerfile --
FROM localhost:5000/from-$ONE:1
RUN echo $ONE > /base.txt
-- app/Dockerfile --
FROM base-$ONE
ARG WHO
COPY . /src
RUN echo $WHO > /who.txt
CMD ["sleep", "1000"]
-- app/.dockerignore --
left-out
-- app/left-out --
-- app/kept --
1
-- app.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: app-$ONE}, {name: tool, image: tool-$ONE, args: [sleep, "1000"]}]}
`

// clones are two clones of a project on one engine, each with a state and a namespace of its own.
type clones struct {
	t          *testing.T
	one, two   *project
	engine     docker.Client
	happened   func() []imageEvent
	twoCluster *k8stest.Real
}

// newClones unpacks the project, whose Tiltfile begins with how its images are shared, twice.
func newClones(t *testing.T, shared string) *clones {
	t.Helper()
	first, other := k8stest.NewReal(t), k8stest.NewReal(t)
	archive := strings.NewReplacer("$ONE", first.Namespace, "$SHARED", shared).Replace(sharedImages)
	c := &clones{t: t, one: newProjectOn(t, first, archive), two: newProjectOn(t, other, archive), engine: dockertest.Real(t), twoCluster: other}
	c.base("old")
	c.happened = watchImages(t, first.Namespace)
	return c
}

// base replaces the base image in the registry.
func (c *clones) base(content string) {
	c.t.Helper()
	ref := "localhost:5000/from-" + c.one.namespace + ":1"
	if _, err := c.engine.Build(c.t.Context(), docker.BuildRequest{Contents: "FROM busybox\nLABEL content=" + content, Tags: []string{ref}}); err != nil {
		c.t.Fatal(err)
	}
	if err := c.engine.Push(c.t.Context(), ref, nil, nil); err != nil {
		c.t.Fatal(err)
	}
	if err := c.engine.Remove(c.t.Context(), ref); err != nil {
		c.t.Fatal(err)
	}
}

// forget removes the project's images from the engine, which then has what another machine has.
func (c *clones) forget(names ...string) {
	c.t.Helper()
	for _, name := range names {
		images, err := c.engine.Images(c.t.Context(), imagebuild.Label+"="+name+"-"+c.one.namespace)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, im := range images {
			for _, tag := range im.Tags {
				if err := c.engine.Remove(c.t.Context(), tag); err != nil {
					c.t.Fatal(err)
				}
			}
		}
	}
}

// built returns the images that were built since the last call, by name. The name that an image gets after it was pulled tells of no build,
// and an image that a command builds gets two.
func (c *clones) built() (names []string) {
	c.t.Helper()
	pulled := map[string]bool{}
	for _, e := range c.happened() {
		repository, _, _ := strings.Cut(strings.TrimPrefix(e.ref, "localhost:5000/"), ":")
		name, cached := strings.CutPrefix(repository, "cache/")
		name, _, _ = strings.Cut(name, "-")
		switch {
		case name == "from":
		case e.action == "pull":
			pulled[name] = true
		case pulled[name]:
			pulled[name] = false
		case name == "tool" && slices.Contains(names, name):
		case !cached:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// deploy deploys a clone on an engine without the project's images, checks which are built, and returns the images of the Deployment.
func (c *clones) deploy(p *project, builds ...string) string {
	c.t.Helper()
	c.forget("app", "base", "tool")
	c.built()
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 0 {
		c.t.Fatalf("exit code %d\n%s", code, out)
	}
	if built := c.built(); !slices.Equal(built, builds) {
		c.t.Errorf("it builds %q, want %q:\n%s", built, builds, out)
	}
	return strings.Join(imagesOf(p.object("apps", "v1", "deployments", "app")), " ")
}

// changes changes the second clone, whose Deployment has the images last. It is built again where an input has changed, and only there.
func (c *clones) changes(last string) {
	c.t.Helper()
	two := c.two
	for _, change := range []struct {
		name   string
		make   func()
		builds []string
	}{
		{"nothing", func() {}, nil},
		{"a file that is left out", func() { two.write("app/left-out", "changed") }, nil},
		{"a file", func() { two.replace("app/kept", "1", "2") }, []string{"app"}},
		{"an argument", func() { two.replace("Tiltfile", "'WHO': 'hone'", "'WHO': 'you'") }, []string{"app"}},
		{"the ignored files", func() { two.replace("app/.dockerignore", "left-out", "other") }, []string{"app"}},
		{"a file of the command", func() { two.write("tool/data", "2\n") }, []string{"tool"}},
		{"the base in its registry", func() { c.base("new") }, []string{"app", "base"}},
	} {
		change.make()
		images := c.deploy(two, change.builds...)
		if same := images == last; same != (len(change.builds) == 0) {
			c.t.Errorf("after a change of %s, it deploys %s, before %s", change.name, images, last)
		}
		last = images
	}
}

// TestImageCache is TestSharedImages for images that get to the cluster in another way than through the registry that machines share.
// What one clone has built and pushed beside its deploy, the other one pulls.
func TestImageCache(t *testing.T) {
	t.Parallel()
	c := newClones(t, "image_cache('localhost:5000/cache')")
	for _, p := range []*project{c.one, c.two} {
		p.replace("app.yaml", "spec:", "spec:\n  replicas: 0")
	}
	first := c.deploy(c.one, "app", "base", "tool")
	c.forget("app", "base", "tool")
	c.two.says(2, []string{"preview", "--exit-code", "--namespace", c.two.namespace}, `image +app-\S+: is in localhost:5000/cache already  sha256:[0-9a-f]{64}\n`,
		`image +base-\S+: is in localhost:5000/cache already`, `image +tool-\S+: is in localhost:5000/cache already`)
	out, err := c.two.command("preview", "-o", "json", "--namespace", c.two.namespace).Output()
	var plan api.Plan
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := len(c.happened()); n != 0 {
		t.Errorf("the preview has given names to %d images", n)
	}
	second := c.deploy(c.two)
	for image := range strings.FieldsSeq(second) {
		if !slices.ContainsFunc(plan.Images, func(im api.PlanImage) bool { return im.Reference == image }) {
			t.Errorf("it deploys %s, and the preview has said %+v", image, plan.Images)
		}
	}
	if second != first {
		t.Errorf("the second clone deploys %s, the first one %s", second, first)
	}
	c.changes(second)
}

// TestSharedImages deploys a project to a registry that its Tiltfile names, and then a second clone of it with a state of its own, whose
// engine lacks the images. It builds only images whose inputs differ, and is updated in place. The engine's events tell what was built.
func TestSharedImages(t *testing.T) {
	t.Parallel()
	c := newClones(t, "default_registry('localhost:5000')")
	one, two := c.one, c.two
	last := c.deploy(one, "app", "base", "tool")
	if second := c.deploy(two); second != last {
		t.Errorf("the second clone deploys %s, the first one %s", second, last)
	}
	c.forget("app")
	s := two.up()
	s.ready("app")
	two.write("app/kept", "live")
	ask := two.shells(c.twoCluster)
	s.await("the changed file", func() error {
		pods, err := two.pods("app")
		if err != nil || len(pods) != 1 {
			return errors.Join(err, fmt.Errorf("%d pods", len(pods)))
		}
		if got, err := ask(pods[0].Name, "cat /src/kept"); got != "live" {
			return errors.Join(err, fmt.Errorf("got %q", got))
		}
		return nil
	})
	if b := s.builds("app", 2); b.Mode != "synclet" {
		t.Errorf("updated by %s", b.Mode)
	}
	if names := c.built(); len(names) > 0 {
		t.Errorf("to be updated in place, it builds %q", names)
	}
	s.stop()
	two.write("app/kept", "1\n")
	c.changes(last)
}

// imageEvent is an event of the engine about an image. The reference of one that is given a name is that name.
type imageEvent struct{ action, ref string }

// watchImages follows the engine's events. The returned function returns the pulls of images and the names that images were given, of
// repositories with a word in their name, since the last call.
func watchImages(t *testing.T, word string) func() []imageEvent {
	t.Helper()
	events := &output{}
	c := exec.CommandContext(t.Context(), "docker", "events", "--since", time.Now().Format(time.RFC3339Nano),
		"--filter", "type=image", "--filter", "event=tag", "--filter", "event=pull", "--format", "{{.Action}} {{.Actor.ID}} {{.Actor.Attributes.name}}")
	c.Stdout, c.Stderr = events, events
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	calls, before := 0, 0
	return func() (out []imageEvent) {
		t.Helper()
		calls++
		mark := fmt.Sprintf("mark:%s-%d", word, calls)
		for _, args := range [][]string{{"tag", "busybox", mark}, {"rmi", mark}} {
			if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
				t.Fatalf("docker %q: %v\n%s", args, err, out)
			}
		}
		text := ""
		k8stest.Eventually(t, "the engine's event "+mark, func() error {
			until := strings.Index(events.String()[before:], mark+"\n")
			if until < 0 {
				return fmt.Errorf("events: %q", events.String()[before:])
			}
			text, before = events.String()[before:before+until], before+until+len(mark)+1
			return nil
		})
		for line := range strings.Lines(text) {
			about := strings.Fields(line)
			if len(about) != 3 {
				continue // the beginning of the mark's own
			}
			e := imageEvent{about[0], about[2]}
			if e.action == "pull" {
				e.ref = about[1] // its name has no tag
			}
			if strings.Contains(e.ref, word) {
				out = append(out, e)
			}
		}
		return out
	}
}
