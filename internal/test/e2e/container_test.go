package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
	"github.com/hone-dev/hone/pkg/api"
)

// newEngine connects to the engine, in which the pods of newDockerProject run.
func newEngine(t *testing.T) docker.Client {
	t.Helper()
	return dockertest.Real(t)
}

// containerOf returns the engine's id of the container of a resource's current pod, and the id of its image.
func containerOf(t *testing.T, s *session, name string) (id, image string) {
	t.Helper()
	pod := current(t, s, name)
	u, err := s.p.dyn.Resource(pods).Namespace(s.p.namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	statuses, _, _ := unstructured.NestedSlice(u.Object, "status", "containerStatuses")
	status := statuses[0].(map[string]any)
	return strings.TrimPrefix(status["containerID"].(string), "docker://"), strings.TrimPrefix(status["imageID"].(string), "docker://")
}

// TestContainerMode edits, adds and deletes files where the pods run in the engine: they go into the running container
// through the engine, and the pod stays.
func TestContainerMode(t *testing.T) {
	t.Parallel()
	p := newDockerProject(t, web)
	s := p.up("--update-mode", "container")
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	pod := current(t, s, "web")

	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.says(`→ web of \S+: 1 file, .* by container in [\d.]+ m?s$`)
	p.write("site/new/page.html", "new")
	s.serves(p.ports[0], "/new/page.html", "new")
	if err := os.RemoveAll(filepath.Join(p.dir, "site/new")); err != nil {
		t.Fatal(err)
	}
	s.await("the deleted page to be gone", func() error {
		if got, err := fetch(p.ports[0], "/new/page.html"); err == nil {
			return fmt.Errorf("still there: %q", got)
		}
		return nil
	})
	s.builds("web", 4)
	r, err := s.resource("web")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.BuildHistory[:3] {
		overtaken := b.Cancelled && b.Mode != "image" // by the rest of a folder's removal, which uses the same mode
		if !overtaken && b.Mode != "container" || b.Error != "" || b.FellBack != "" {
			t.Errorf("build: %+v", b)
		}
	}
	if now := current(t, s, "web"); now.Name != pod.Name || now.Restarts != 0 {
		t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
	}
}

// TestUpdateModesOnDocker checks for each mode how an edit is applied if the pods run in the engine.
func TestUpdateModesOnDocker(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"auto": "synclet", "exec": "exec", "image": "image"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newDockerProject(t, web)
			s := p.up("--update-mode", mode)
			s.ready("web")
			p.write("site/index.html", "two")
			s.serves(p.ports[0], "/", "two")
			if b := s.builds("web", 2); b.Mode != want || b.Error != "" {
				t.Errorf("build: %+v, want mode %s", b, want)
			}
			s.ready("web")
		})
	}
}

// TestContainerModeFallsBack edits a file that no live update covers: a new image, into which the next edit goes.
func TestContainerModeFallsBack(t *testing.T) {
	t.Parallel()
	p := newDockerProject(t, web)
	s := p.up("--update-mode", "container")
	s.ready("web")
	pod := current(t, s, "web")
	p.write("conf/settings", "a=2")
	if b := s.builds("web", 2); b.Mode != "image" || b.Error != "" || !strings.Contains(b.FellBack, "fall_back_on") {
		t.Errorf("build: %+v", b)
	}
	s.says(`Falling back to a new image: .*fall_back_on`)
	s.ready("web")
	if now := current(t, s, "web"); now.Name == pod.Name {
		t.Error("the pod is still the old one")
	}
	p.write("site/index.html", "three")
	s.serves(p.ports[0], "/", "three")
	if b := s.builds("web", 3); b.Mode != "container" {
		t.Errorf("build: %+v", b)
	}
}

// TestContainerModeRunStep runs a command after each edit. One that fails is shown, keeps the files and the pod, and is
// tried again with the next edit.
func TestContainerModeRunStep(t *testing.T) {
	t.Parallel()
	p := newDockerProject(t, web)
	p.replace("Tiltfile", "sync('site', '/www')", "sync('site', '/www'), run('tr a-z A-Z < /www/index.html > /www/loud; ! grep BAD /www/loud')")
	s := p.up("--update-mode", "container")
	s.ready("web")
	pod := current(t, s, "web")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/loud", "TWO")
	p.write("site/index.html", "bad")
	b := s.builds("web", 3)
	if b.Mode != "container" || !strings.Contains(b.Error, "exit code 1") || b.FellBack != "" {
		t.Errorf("build: %+v", b)
	}
	s.says(`web │ BAD$`)
	s.serves(p.ports[0], "/", "bad") // the file stays
	p.write("site/index.html", "good")
	s.serves(p.ports[0], "/loud", "GOOD")
	if b := s.builds("web", 4); b.Mode != "container" || b.Error != "" {
		t.Errorf("build: %+v", b)
	}
	s.ready("web")
	if now := current(t, s, "web"); now.Name != pod.Name || now.Restarts != 0 {
		t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
	}
}

// TestSharedEngineNeedsNoDelivery runs the image that the engine built, without pushing it.
func TestSharedEngineNeedsNoDelivery(t *testing.T) {
	t.Parallel()
	p := newDockerProject(t, web)
	p.write("site/index.html", "$NS") // an image that no other test has, and may have pushed
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", p.namespace)
	s.says(`Nothing to push: the engine at unix://\S+ is the cluster's own`)

	ref := imageOf(p.object("apps", "v1", "deployments", "web"))
	if !strings.HasPrefix(ref, "web:") {
		t.Errorf("the Deployment's image is %s, want a name without a registry", ref)
	}
	built, found, err := newEngine(t).Inspect(t.Context(), ref)
	if err != nil || !found {
		t.Fatalf("the engine's image %s: found %v, %v", ref, found, err)
	}
	// An image that was pushed would be known by the digest that the registry gave it.
	if _, runs := containerOf(t, s, "web"); runs != built.ID {
		t.Errorf("the pod runs image %s, the engine built %s", runs, built.ID)
	}
}

// TestContainerModeDoctor checks that doctor reports how images get to a cluster that runs in the engine.
func TestContainerModeDoctor(t *testing.T) {
	t.Parallel()
	p := newDockerProject(t, "")
	out, code := p.run("doctor")
	if code != 0 || !strings.Contains(out, "shared engine") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
}

// TestContainerModeHealsReplacedPod deletes the pod after a live update: the next one gets the changes again.
func TestContainerModeHealsReplacedPod(t *testing.T) {
	t.Parallel()
	p := newDockerProject(t, web)
	s := p.up("--update-mode", "container")
	s.ready("web")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	pod := current(t, s, "web")
	zero := int64(0)
	if err := p.dyn.Resource(pods).Namespace(p.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	s.becomes("web", "running in another pod", func(r api.Resource) bool {
		return len(r.Pods) > 0 && r.Pods[0].Name != pod.Name && r.Pods[0].Ready
	})
	s.serves(p.ports[0], "/", "two")
	if b := s.builds("web", 3); b.Mode != "container" || !strings.Contains(b.Reason, "container started") {
		t.Errorf("build: %+v", b)
	}
}
