package e2e

import (
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
)

// sharedImages is a project with two images, one of which is based on the other and is updated in place. $ONE stands for the name of the
// first clone.
const sharedImages = `
-- Tiltfile --
default_registry('localhost:5000')
docker_build('app-$ONE', 'app', build_args={'WHO': 'hone'}, live_update=[sync('app', '/src')])
docker_build('base-$ONE', 'base')
k8s_yaml('app.yaml')
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
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: app-$ONE}]}
`

// TestSharedImages deploys a project to a registry that its Tiltfile names, and then a second clone of it with a state of its own, whose
// engine lacks the images. It builds only images whose inputs differ, and is updated in place. The engine's events tell what was built.
func TestSharedImages(t *testing.T) {
	t.Parallel()
	first, other := k8stest.NewReal(t), k8stest.NewReal(t)
	archive := strings.ReplaceAll(sharedImages, "$ONE", first.Namespace)
	one, two := newProjectOn(t, first, archive), newProjectOn(t, other, archive)
	engine := dockertest.Real(t)
	base := func(content string) {
		t.Helper()
		ref := "localhost:5000/from-" + one.namespace + ":1"
		if _, err := engine.Build(t.Context(), docker.BuildRequest{Contents: "FROM busybox\nLABEL content=" + content, Tags: []string{ref}}); err != nil {
			t.Fatal(err)
		}
		if err := engine.Push(t.Context(), ref, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := engine.Remove(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	base("old")
	tagged := watchTags(t, one.namespace)
	deploy := func(p *project, builds ...string) string {
		t.Helper()
		for _, name := range []string{"app", "base"} {
			forget(t, engine, name+"-"+one.namespace)
		}
		tagged()
		out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		var built []string
		for _, ref := range tagged() {
			name, _, _ := strings.Cut(strings.TrimPrefix(ref, "localhost:5000/"), "-")
			built = append(built, name)
		}
		if !slices.Equal(built, builds) {
			t.Errorf("it builds %q, want %q:\n%s", built, builds, out)
		}
		return imageOf(p.object("apps", "v1", "deployments", "app"))
	}
	last := deploy(one, "base", "app")
	if second := deploy(two); second != last {
		t.Errorf("the second clone deploys %s, the first one %s", second, last)
	}
	forget(t, engine, "app-"+one.namespace)
	s := two.up()
	s.ready("app")
	two.write("app/kept", "live")
	ask := two.shells(other)
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
	if refs := tagged(); len(refs) > 0 {
		t.Errorf("to be updated in place, it builds %q", refs)
	}
	s.stop()
	two.write("app/kept", "1\n")
	for _, change := range []struct {
		name   string
		make   func()
		builds []string
	}{
		{"a file and back", func() {}, nil},
		{"a file that is left out", func() { two.write("app/left-out", "changed") }, nil},
		{"a file", func() { two.replace("app/kept", "1", "2") }, []string{"app"}},
		{"an argument", func() { two.replace("Tiltfile", "'WHO': 'hone'", "'WHO': 'you'") }, []string{"app"}},
		{"the ignored files", func() { two.replace("app/.dockerignore", "left-out", "other") }, []string{"app"}},
		{"the base in its registry", func() { base("new") }, []string{"base", "app"}},
	} {
		change.make()
		image := deploy(two, change.builds...)
		if same := image == last; same != (len(change.builds) == 0) {
			t.Errorf("after a change of %s, it deploys %s, before %s", change.name, image, last)
		}
		last = image
	}

}

// forget removes the images of a reference in a Tiltfile from the engine, which then has what another machine has.
func forget(t *testing.T, engine docker.Client, ref string) {
	t.Helper()
	images, err := engine.Images(t.Context(), imagebuild.Label+"="+ref)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range images {
		for _, tag := range im.Tags {
			if err := engine.Remove(t.Context(), tag); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// watchTags follows the engine's events. The returned function returns the references of repositories with a word in their name that
// images were given since the last call.
func watchTags(t *testing.T, word string) func() []string {
	t.Helper()
	events := &output{}
	c := exec.CommandContext(t.Context(), "docker", "events", "--since", time.Now().Format(time.RFC3339Nano),
		"--filter", "type=image", "--filter", "event=tag", "--format", "{{.Actor.Attributes.name}}")
	c.Stdout, c.Stderr = events, events
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	calls, before := 0, 0
	return func() (refs []string) {
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
		for ref := range strings.FieldsSeq(text) {
			if repository, _, _ := strings.Cut(strings.TrimPrefix(ref, "localhost:5000/"), ":"); strings.Contains(repository, word) && !strings.HasPrefix(repository, "from-") {
				refs = append(refs, ref)
			}
		}
		return refs
	}
}
