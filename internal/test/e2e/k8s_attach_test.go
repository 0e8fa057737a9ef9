package e2e

import (
	"os/exec"
	"testing"
)

// attached follows a Deployment that the project does not declare.
var attached = `
-- Tiltfile --
load('ext://k8s_attach', 'k8s_attach')
k8s_attach('site', 'deployment/theirs', namespace='$NS', deps=['site'], container_selector='web',
    live_update=[sync('site', '/www')], port_forwards='$PORT0:80')
-- site/index.html --
mine
-- theirs.yaml --
` + deployment("theirs", `
terminationGracePeriodSeconds: 0
containers:
- name: web
  image: busybox
  command: [sh, -c, 'mkdir -p /www; echo theirs > /www/index.html; exec httpd -f -p 80 -h /www']
`)

// TestAttach follows an object that hone does not own, updates its container in place, and does not delete it in the
// end.
func TestAttach(t *testing.T) {
	t.Parallel()
	p := newProject(t, attached)
	p.env = []string{"XDG_DATA_HOME=" + t.TempDir()}
	kubectl := exec.Command("kubectl", "apply", "-n", p.namespace, "-f", "theirs.yaml")
	kubectl.Dir = p.dir
	if out, err := kubectl.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := p.object("apps", "v1", "deployments", "theirs")
	s := p.up()
	s.ready("site")
	s.serves(p.ports[0], "/", "theirs")
	p.write("site/index.html", "edited")
	s.serves(p.ports[0], "/", "edited")
	s.stop()
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
		t.Errorf("down: %d\n%s", code, out)
	}
	after := p.object("apps", "v1", "deployments", "theirs")
	if after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration() || after.GetDeletionTimestamp() != nil {
		t.Errorf("the object was changed: %v, then %v", before, after)
	}
	if len(after.GetLabels()) != len(before.GetLabels()) {
		t.Errorf("labels %v, then %v", before.GetLabels(), after.GetLabels())
	}
}
