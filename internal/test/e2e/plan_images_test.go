package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/pkg/api"
)

// TestPlanOfImages deploys images, one of them with the synclet in its pods: a preview afterwards shows no change, of ci and of a
// session, and changes by hand are drift. A file that goes into the image is a change.
func TestPlanOfImages(t *testing.T) {
	t.Parallel()
	const app = `-- %[1]s/Dockerfile --
FROM busybox
COPY . /src
CMD ["sleep", "100000"]
-- %[1]s/file --
one
-- %[1]s.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: %[1]s}]}
`
	p := newProject(t, "-- Tiltfile --\ndocker_build('plain', 'plain')\ndocker_build('live', 'live', live_update=[fall_back_on('live/stop'), sync('live', '/src'), restart_process()])\n"+
		"k8s_yaml(['plain.yaml', 'live.yaml'])\n"+fmt.Sprintf(app, "plain")+fmt.Sprintf(app, "live"))
	preview := func(code int, want ...string) {
		t.Helper()
		p.says(code, []string{"preview", "--exit-code", "--namespace", p.namespace}, want...)
	}
	deployments := p.dyn.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(p.namespace)
	byHand := func(name string) {
		t.Helper()
		patch := `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"busybox","command":["sleep","200000"]}]}}}}`
		if _, err := deployments.Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
	}
	preview(2, `\+ create  deployment/live in `, `\+ create  deployment/plain in `, `: 2 to create\n`)
	p.deploys(0)
	preview(0, `: 2 unchanged\n`)
	p.says(0, []string{"deploy", "--yes", "--port", "0", "--namespace", p.namespace}, `Nothing to deploy`)

	byHand("plain")
	preview(2, `! spec\.template\.spec\.containers\[name=main\]\.image: busybox → \S+:hone-[0-9a-f]{16}  \(drift, by kubectl-edit at `, `: 1 to update, 1 unchanged\n`)
	p.write("plain/file", "two\n")
	preview(2, `x spec\.template\.spec\.containers\[name=main\]\.image: busybox → \(known after the build\)  \(conflict, `, `: 1 to update, 1 unchanged\n`)
	p.write("plain/file", "one\n")
	plan := filepath.Join(p.dir, "next.plan")
	p.says(0, []string{"preview", "-o", "plan=" + plan, "--namespace", p.namespace})
	p.says(0, []string{"deploy", plan, "--port", "0"}, `Nothing has changed since \S+ was built: it is used again`)
	preview(0, `: 2 unchanged\n`)

	// A session shows its plan: no change, an update that it was told to hold back, and an update in place.
	p.replace("Tiltfile", "k8s_yaml", "trigger_mode(TRIGGER_MODE_MANUAL)\nk8s_yaml")
	s := p.up()
	s.ready("plain", "live")
	s.settled()
	would := func(want ...string) {
		t.Helper()
		c, err := s.client()
		if err != nil {
			t.Fatal(err)
		}
		plan, err := c.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, step := range plan.Steps {
			got = append(got, fmt.Sprintf("%s %s/%s", step.Action, step.Object.Kind, step.Object.Name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the session would %q, want %q:\n%+v", got, want, plan.Steps)
		}
	}
	would()

	// The plan of a paused session shows the effect of resuming it: of files of the Tiltfile, too, which it has not evaluated.
	s.hone("pause")
	p.replace("plain/Dockerfile", "COPY . /src", "COPY . /other")
	p.replace("live.yaml", "apiVersion", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: added}\n---\napiVersion")
	s.await("both files to wait", func() error {
		v, err := s.view()
		if err == nil && (v.Paused == nil || v.Paused.TiltfileFiles < 2) {
			err = fmt.Errorf("%+v", v.Paused)
		}
		return err
	})
	would("update Deployment/plain", "create ConfigMap/added")
	p.replace("live.yaml", "metadata: {name: added}", "metadata: [")
	if c, err := s.client(); err != nil {
		t.Fatal(err)
	} else if plan, err := c.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "live.yaml") {
		t.Errorf("the plan of a manifest that cannot be read: %+v, %v", plan, err)
	}
	p.replace("live.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n---\n", "")
	p.replace("plain/Dockerfile", "COPY . /other", "COPY . /src")
	would()
	s.hone("resume")
	s.settled()
	byHand("plain") // it does not restore that by itself
	s.await("drift", func() error {
		if out, _ := p.run("get", "drifts", "-o", "yaml", "--port", fmt.Sprint(s.port)); !strings.Contains(out, "kubectl-edit") {
			return errors.New(out)
		}
		return nil
	})
	would()
	p.write("plain/file", "three\n")
	p.write("live/file", "three\n")
	s.waits("plain", "manual")
	s.waits("live", "manual")
	would("update Deployment/plain", "run containers/live")
	p.write("live/stop", "a new image\n")
	s.becomes("live", "a file that needs a new image", func(r api.Resource) bool { return len(r.PendingFiles) == 2 })
	would("update Deployment/live", "update Deployment/plain")
}
