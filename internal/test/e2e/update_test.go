package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/pkg/api"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// TestLiveUpdate edits, adds and deletes files: they go into the running container, and the pod stays.
func TestLiveUpdate(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	s.serves(p.ports[0], "/", "one")
	pod := current(t, s, "web")

	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	s.says(`→ web of \S+: 1 file, .* by synclet in [\d.]+ m?s$`)
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
	b := s.builds("web", 4)
	if b.Mode != "synclet" || b.Error != "" || b.FellBack != "" {
		t.Errorf("newest build: %+v", b)
	}
	if now := current(t, s, "web"); now.Name != pod.Name || now.Restarts != 0 {
		t.Errorf("the pod was replaced: %+v, then %+v", pod, now)
	}
}

func current(t *testing.T, s *session, name string) api.Pod {
	t.Helper()
	r := s.becomes(name, "with a current pod", func(r api.Resource) bool {
		for _, p := range r.Pods {
			if p.Current && p.Ready {
				return true
			}
		}
		return false
	})
	for _, p := range r.Pods {
		if p.Current && p.Ready {
			return p
		}
	}
	return api.Pod{}
}

// TestUpdateModes checks for each mode how an edit is applied. The cluster's containers are not the engine's, so
// container mode has to fall through.
func TestUpdateModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"auto": "synclet", "synclet": "synclet", "exec": "exec", "image": "image", "naive": "image", "container": "image"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, web)
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

// TestFallBack edits a file that no live update covers.
func TestFallBack(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	p.write("conf/settings", "a=2")
	b := s.builds("web", 2)
	if b.Mode != "image" || !strings.Contains(b.FellBack, "fall_back_on") {
		t.Errorf("build: %+v", b)
	}
	s.says(`Falling back to a new image: .*fall_back_on`)
	s.ready("web")
	p.write("site/index.html", "three") // live updates are tried again with the new image
	s.serves(p.ports[0], "/", "three")
	if b := s.builds("web", 3); b.Mode != "synclet" {
		t.Errorf("build: %+v", b)
	}
}

// TestFailingRunStep shows the user's own failing command, keeps the files and the pod, and tries again with the next edit.
func TestFailingRunStep(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "sync('site', '/www')", "sync('site', '/www'), run('echo checking; ! grep -q bad /www/index.html')")
	s := p.up()
	s.ready("web")
	pod := current(t, s, "web")
	p.write("site/index.html", "bad")
	b := s.builds("web", 2)
	if b.Mode != "synclet" || !strings.Contains(b.Error, "exit code 1") || b.FellBack != "" {
		t.Errorf("build: %+v", b)
	}
	s.serves(p.ports[0], "/", "bad") // the file stays
	p.write("site/index.html", "good")
	s.serves(p.ports[0], "/", "good")
	s.ready("web")
	if now := current(t, s, "web"); now.Name != pod.Name {
		t.Error("the pod was replaced")
	}
}

// TestRestartedContainerIsHealed kills the container's process after a live update: the new run gets the changes again.
func TestRestartedContainerIsHealed(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	pod := current(t, s, "web")
	zero := int64(0)
	if err := p.dyn.Resource(pods).Namespace(p.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	s.await("another pod", func() error {
		r, err := s.resource("web")
		if err == nil && (len(r.Pods) == 0 || r.Pods[0].Name == pod.Name || !r.Pods[0].Ready) {
			err = fmt.Errorf("pods: %+v", r.Pods)
		}
		return err
	})
	s.serves(p.ports[0], "/", "two")
	if b := s.builds("web", 3); b.Mode != "synclet" || !strings.Contains(b.Reason, "container started") {
		t.Errorf("build: %+v", b)
	}
}

// TestUnchangedContentIsNoChange writes the same content again, and then other content, to show that a change would have
// counted.
func TestUnchangedContentIsNoChange(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	p.write("site/index.html", "one\n") // as it was
	p.write("site/.index.html.swp", "an editor's dropping")
	p.write(".git/index", "x")
	p.write("site/index.html", "two")
	s.serves(p.ports[0], "/", "two")
	b := s.builds("web", 2)
	if fmt.Sprint(b.Files) != "[site/index.html]" {
		t.Errorf("files: %v", b.Files)
	}
	if r, _ := s.resource("web"); len(r.BuildHistory) != 2 {
		t.Errorf("%d builds, want 2: %+v", len(r.BuildHistory), r.BuildHistory)
	}
}

// TestIgnores changes files that each kind of ignore rule leaves out, and then one that counts.
func TestIgnores(t *testing.T) {
	t.Parallel()
	p := newProject(t, web+`
-- .tiltignore --
**/*.tmp
-- .dockerignore --
site/docs
`)
	p.replace("Tiltfile", "only=['site', 'conf'],", "only=['site', 'conf'], ignore=['site/generated'],")
	s := p.up()
	s.ready("web")
	p.write("site/x.tmp", "x")
	p.write("site/docs/a", "x")
	p.write("site/generated/a", "x")
	p.write("elsewhere/a", "x")
	p.write("site/counts", "x")
	b := s.builds("web", 2)
	if fmt.Sprint(b.Files) != "[site/counts]" {
		t.Errorf("files: %v", b.Files)
	}
}

// TestManualResource keeps a change until it is triggered.
func TestManualResource(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "k8s_resource('web'", "k8s_resource('web', trigger_mode=TRIGGER_MODE_MANUAL")
	s := p.up()
	s.ready("web")
	p.write("site/index.html", "two")
	s.becomes("web", "waiting for the user", func(r api.Resource) bool {
		return r.Waiting != nil && r.Waiting.Reason == "manual" && r.UpdateStatus == "pending"
	})
	if got, err := fetch(p.ports[0], "/"); err != nil || got != "one" {
		t.Errorf("before the trigger: %q, %v", got, err)
	}
	if out, code := p.run("trigger", "web", "--port", fmt.Sprint(s.port)); code != 0 || !strings.Contains(out, "Successfully triggered") {
		t.Errorf("trigger: %d %s", code, out)
	}
	s.serves(p.ports[0], "/", "two")
	if b := s.builds("web", 2); b.Mode != "synclet" {
		t.Errorf("build: %+v", b)
	}
}

// TestTriggerRebuilds triggers a resource without changes: its pods are replaced.
func TestTriggerRebuilds(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	before := p.object("apps", "v1", "deployments", "web")
	pod := current(t, s, "web").Name
	if out, code := p.run("trigger", "web", "--port", fmt.Sprint(s.port)); code != 0 {
		t.Errorf("trigger: %d %s", code, out)
	}
	r := s.becomes("web", "ready again", ready)
	if !slices.ContainsFunc(r.Pods, func(p api.Pod) bool { return p.Name != pod && p.Current && p.Ready }) {
		t.Errorf("it is ready while the rollout is under way: %+v", r.Pods)
	}
	s.builds("web", 2)
	s.says(`Restarting the rollout of deployment/web: nothing in its pods has changed`)
	if after := p.object("apps", "v1", "deployments", "web"); after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration()+1 {
		t.Errorf("the Deployment was replaced, or not restarted: generation %d, then %d", before.GetGeneration(), after.GetGeneration())
	}
	s.serves(p.ports[0], "/", "one")
	if out, code := p.run("trigger", "wbe", "--port", fmt.Sprint(s.port)); code != 1 || !strings.Contains(out, `no resource is called "wbe"`) || !strings.Contains(out, "web") {
		t.Errorf("trigger of an unknown name: %d %s", code, out)
	}
}

// TestStaleBuildIsCancelled changes a file while the image is built from its former content.
func TestStaleBuildIsCancelled(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("web.Dockerfile", "COPY conf /conf", "COPY conf /conf\nRUN if grep -q slow /conf/settings; then sleep 60; fi")
	s := p.up()
	s.ready("web")
	p.write("conf/settings", "slow="+uuid.NewString())         // no earlier run has it in the builder's cache
	s.says(`(?s)File Changed: \[conf/settings\].*RUN if grep`) // the context has been read: later changes are too late for it
	s.becomes("web", "building", func(r api.Resource) bool { return r.CurrentBuild != nil && r.CurrentBuild.Serial == 2 })
	p.write("conf/settings", "fast=1")
	r := s.becomes("web", "through with the newer build", func(r api.Resource) bool {
		return len(r.BuildHistory) > 2 && r.CurrentBuild == nil
	})
	if stale, newer := r.BuildHistory[1], r.BuildHistory[0]; !stale.Cancelled || newer.Cancelled || newer.Error != "" {
		t.Errorf("builds: %+v", r.BuildHistory)
	}
	s.ready("web")
}

// TestSavedObjects saves the YAML of a resource with live update while it lies in the build context: there is one
// deploy, of the saved content.
func TestSavedObjects(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	p.replace("Tiltfile", "only=['site', 'conf'],", "")
	p.replace("web.yaml", "metadata: {name: web}\nspec:\n  selector: {m", "metadata: {name: web, annotations: {revision: r0}}\nspec:\n  selector: {m")
	s := p.up()
	s.ready("web")
	for i := range 3 {
		want := fmt.Sprintf("r%d", i+1)
		p.replace("web.yaml", fmt.Sprintf("revision: r%d", i), "revision: "+want)
		if b := s.builds("web", i+2); !strings.Contains(b.Reason, "config changed") || b.Error != "" {
			t.Errorf("build %d was not made for the new YAML: %+v", i+2, b)
		}
		s.ready("web")
		if got := p.object("apps", "v1", "deployments", "web").GetAnnotations()["revision"]; got != want {
			t.Errorf("revision %q, want %q", got, want)
		}
	}
	if r, err := s.resource("web"); err != nil || r.BuildHistory[0].Serial != 4 {
		t.Errorf("there were other builds: %+v, %v", r.BuildHistory, err)
	}
}
