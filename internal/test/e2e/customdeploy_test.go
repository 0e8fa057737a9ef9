package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// chart is a resource that scripts deploy: its objects have no labels of hone, and the scripts record their runs.
var chart = `
-- Tiltfile --
k8s_custom_deploy('chart', apply_cmd='./apply.sh', delete_cmd=['./delete.sh'], deps=['chart'],
    apply_env={'GREETING': 'hello'}, delete_env={'FAREWELL': 'swordfish-27'}, container_selector='web',
    live_update=[fall_back_on('chart/site/conf'), sync('chart/site', '/www'), run('touch /www/ran')])
k8s_resource('chart', port_forwards='$PORT0:80')
k8s_yaml('base.yaml')
-- apply.sh --
#!/bin/sh
set -e
echo "$GREETING from the apply command" >&2
echo apply >> log
kubectl apply -o yaml -f chart/app.yaml
-- delete.sh --
#!/bin/sh
[ "$FAREWELL" = swordfish-27 ] || exit 7
echo delete >> log
kubectl delete --ignore-not-found --wait -f chart/app.yaml
-- chart/site/index.html --
unused
-- chart/app.yaml --
` + deployment("chart", `
terminationGracePeriodSeconds: 0
containers:
- name: web
  image: busybox
  imagePullPolicy: IfNotPresent
  command: [sh, -c, 'mkdir -p /www; echo v1 > /www/index.html; exec httpd -f -h /www']
  ports: [{containerPort: 80}]
  readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 1}
- name: other
  image: busybox
  imagePullPolicy: IfNotPresent
  command: [sleep, infinity]
`) + `-- base.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: base}
`

// ran returns the runs that the scripts recorded: "apply apply delete".
func (p *project) ran() string {
	b, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return strings.Join(strings.Fields(string(b)), " ")
}

// TestCustomDeploy applies with a command, again when one of its dependencies changes, updates its container in place, and runs the
// delete command when the call leaves the Tiltfile.
func TestCustomDeploy(t *testing.T) {
	t.Parallel()
	p := newProject(t, chart)
	s := p.up()
	s.ready("chart", "uncategorized")
	s.says(`hello from the apply command`)
	s.says(`→ chart:deployment`)
	s.serves(p.ports[0], "/", "v1")
	pod := current(t, s, "chart")
	if labels := p.object("apps", "v1", "deployments", "chart").GetLabels(); len(labels) != 0 {
		t.Errorf("hone has labelled what the command applied: %v", labels)
	}

	p.write("chart/site/index.html", "v2")
	s.serves(p.ports[0], "/", "v2")
	s.says(`→ web of \S+: 1 file, .* by synclet in [\d.]+ m?s$`)
	if b := s.builds("chart", 2); b.Mode != "synclet" || b.Error != "" || b.FellBack != "" {
		t.Errorf("newest build: %+v", b)
	}
	if _, err := fetch(p.ports[0], "/ran"); err != nil {
		t.Errorf("the run step: %v", err)
	}
	if now := current(t, s, "chart"); now.Name != pod.Name || p.ran() != "apply" {
		t.Errorf("pod %s, then %s; the commands that ran: %s", pod.Name, now.Name, p.ran())
	}

	p.replace("chart/app.yaml", "echo v1", "echo v3")
	s.becomes("chart", "in its new pod alone", func(r api.Resource) bool {
		return ready(r) && len(r.Pods) == 1 && r.Pods[0].Name != pod.Name
	})
	s.serves(p.ports[0], "/", "v2") // as the file is here
	p.write("chart/site/conf", "x=1")
	if b := s.builds("chart", 5); b.Mode != "deploy" || p.ran() != "apply apply apply" {
		t.Errorf("a file to fall back on: the newest build is %+v; the commands that ran: %s", b, p.ran())
	}

	p.write("Tiltfile", "k8s_yaml('base.yaml')\n")
	p.gone("apps", "v1", "deployments", "chart")
	s.await("the resource to leave", func() error {
		if r, err := s.resource("chart"); err == nil {
			return fmt.Errorf("it is still there: %+v", r)
		}
		return nil
	})
	if got := p.ran(); got != "apply apply apply delete" {
		t.Errorf("the commands that ran: %s", got)
	}
	s.stop()
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || p.ran() != "apply apply apply delete" {
		t.Errorf("down: code %d, ran %s\n%s", code, p.ran(), out)
	}
}

// TestSelectedPod lets updates in place of a selected container fail, while the command leaves the pod. It is replaced, and the next one gets
// all files, as each later one does. A pod that never took any makes the update fail, and the next save tries again.
func TestSelectedPod(t *testing.T) {
	t.Parallel()
	p := newProject(t, chart)
	s := p.up()
	s.ready("chart", "uncategorized")
	p.write("chart/site/index.html", "v2")
	s.serves(p.ports[0], "/", "v2")
	pod := current(t, s, "chart").Name
	p.kubectl("exec", pod, "-c", "web", "--", "ln", "-s", "/bin", "/www/sub")
	p.write("chart/site/sub/file", "new")
	s.says("Deleting pod " + pod + ": it did not take the changed files")
	s.serves(p.ports[0], "/sub/file", "new")
	s.serves(p.ports[0], "/", "v2")
	s.ready("chart")

	p.replace("chart/app.yaml", "mkdir -p /www;", "mkdir -p /www; ln -s /bin /www/next;")
	s.becomes("chart", "in its new pod alone", func(r api.Resource) bool { return ready(r) && len(r.Pods) == 1 && r.Pods[0].Name != pod })
	s.serves(p.ports[0], "/sub/file", "new")
	p.write("chart/site/next/file", "new")
	s.says("Build Failed: pod .* lacks changed files, and the apply command has left its workload")
	p.kubectl("exec", "deployment/chart", "-c", "web", "--", "rm", "/www/next")
	p.write("chart/site/index.html", "v3")
	s.serves(p.ports[0], "/", "v3")
	s.serves(p.ports[0], "/next/file", "new")
	s.ready("chart")
}

// TestCustomDeployDown takes down the objects of a custom deploy after the Tiltfile has been broken: with the recorded delete
// command, in the namespace of the session.
func TestCustomDeployDown(t *testing.T) {
	t.Parallel()
	p := newProject(t, chart)
	s := p.up()
	s.ready("chart", "uncategorized")
	s.stop()
	if out, err := exec.Command("grep", "-rl", "swordfish-27", p.state).Output(); err == nil {
		t.Errorf("the environment of the delete command is in clear in %s", out)
	}
	p.write("Tiltfile", "this is no program")
	out, code := p.run("down")
	if code != 0 || p.ran() != "apply delete" {
		t.Errorf("code %d, ran %s\n%s", code, p.ran(), out)
	}
	p.gone("apps", "v1", "deployments", "chart")
	p.gone("", "v1", "configmaps", "base")
	if out, code := p.run("down"); code != 0 || !strings.Contains(out, "Nothing to delete") {
		t.Errorf("a second down: code %d\n%s", code, out)
	}
}

// TestCustomDeployFails shows the error of an apply command, and tries again when its dependencies change.
func TestCustomDeployFails(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(chart, "kubectl apply -o yaml", "kubectl apply", 1))
	p.replace("Tiltfile", "deps=['chart']", "deps=['chart', 'apply.sh']")
	s := p.up()
	s.says(`it printed something that is not a Kubernetes object`)
	s.says(`kubectl apply -o yaml`)
	r := s.becomes("chart", "failed", func(r api.Resource) bool { return r.UpdateStatus == "error" })
	if len(r.BuildHistory) == 0 || !strings.Contains(r.BuildHistory[0].Error, "standard error") {
		t.Errorf("the build has no mend: %+v", r.BuildHistory)
	}
	p.replace("apply.sh", "kubectl apply", "kubectl apply -o yaml")
	s.ready("chart")
	s.stop()
	k8stest.Eventually(t, "down", func() error {
		if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
			return fmt.Errorf("code %d\n%s", code, out)
		}
		return nil
	})
	p.gone("apps", "v1", "deployments", "chart")
}

// TestTouch touches the stamps that a custom_build, a k8s_custom_deploy and a local_resource depend on, as make does: each runs again, and
// no other. To touch the Tiltfile loads it again.
func TestTouch(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
local('echo load >> log')
custom_build('busybox', 'echo build >> log', tag='latest', skips_local_docker=True, deps=['built'])
k8s_yaml('app.yaml')
k8s_custom_deploy('custom', 'echo apply >> log; kubectl apply -o yaml -f custom.yaml', 'kubectl delete -f custom.yaml', deps=['applied'])
local_resource('gen', 'echo gen >> log', deps=['generated'])
-- built --
-- applied --
-- generated --
-- custom.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: custom}
-- app.yaml --
`+appYAML)
	s := p.up()
	s.ready("app", "custom", "gen")
	for file, runs := range map[string]string{"built": "build", "applied": "apply", "generated": "gen", "Tiltfile": "load"} {
		before := p.ran()
		now := time.Now()
		check(t, os.Chtimes(filepath.Join(p.dir, file), now, now))
		s.await("a touch of "+file, func() error {
			if got := strings.TrimPrefix(p.ran(), before); got != " "+runs {
				return fmt.Errorf("there ran %q", got)
			}
			return nil
		})
		s.ready("app", "custom", "gen")
	}
}
