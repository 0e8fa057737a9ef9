package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// kubectl runs kubectl in the project's namespace.
func (p *project) kubectl(args ...string) {
	p.t.Helper()
	c := exec.Command("kubectl", append([]string{"--namespace", p.namespace}, args...)...)
	c.Dir = p.dir
	if out, err := c.CombinedOutput(); err != nil {
		p.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

// TestFieldManagers changes objects with common tools. A preview names each one (K6), and a deploy takes the field back. Values
// that an autoscaler and kubectl scale set stay where the field is ignored (K8).
func TestFieldManagers(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml(['web.yaml', 'conf.yaml'])
k8s_resource('web', ignore={'Deployment': '/spec/replicas'})
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: busybox, command: [sleep, '100000'], env: [{name: A, value: mine}]}]
-- conf.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: mine}
-- theirs/conf.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {key: theirs}
`)
	in := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	p.deploys(0)
	helm := func() {
		if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Patch(t.Context(), "conf", types.MergePatchType, []byte(`{"data":{"key":"theirs"}}`),
			metav1.PatchOptions{FieldManager: "helm"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		manager, field string
		change         func()
	}{
		{"kubectl-set", `spec\.template\.spec\.containers\[name=main\]\.env\[name=A\]\.value: "?theirs"? → "?mine"?`, func() { p.kubectl("set", "env", "deployment/web", "A=theirs") }},
		{"kubectl-patch", `data\.key: "?theirs"? → "?mine"?`, func() { p.kubectl("patch", "configmap", "conf", "-p", `{"data":{"key":"theirs"}}`) }},
		{"kubectl-client-side-apply", `data\.key: "?theirs"? → "?mine"?`, func() { p.kubectl("apply", "-f", "theirs/conf.yaml") }},
		{"kubectl", `data\.key: "?theirs"? → "?mine"?`, func() { p.kubectl("apply", "--server-side", "--force-conflicts", "-f", "theirs/conf.yaml") }},
		{"helm", `data\.key: "?theirs"? → "?mine"?`, helm},
	} {
		tt.change()
		said := tt.field + `.*\(drift, by ` + tt.manager + ` at `
		p.says(2, in("preview", "--exit-code"), said)
		p.says(2, in("drift", "--exit-code"), said)
		p.deploys(0)
		p.says(0, in("preview", "--exit-code"))
	}

	replicas := func(want int64) {
		t.Helper()
		k8stest.Eventually(t, fmt.Sprintf("%d replicas", want), func() error {
			if n := p.live("deployment/web").Object["spec"].(map[string]any)["replicas"]; n != want {
				return fmt.Errorf("there are %v", n)
			}
			return nil
		})
	}
	p.kubectl("autoscale", "deployment", "web", "--min=2", "--max=5")
	replicas(2) // without any measurement: there are fewer than the least
	p.says(0, in("preview", "--exit-code"))
	p.says(0, in("drift", "--exit-code"))
	p.replace("web.yaml", "value: mine", "value: ours")
	p.deploys(0)
	replicas(2)
	p.kubectl("scale", "deployment/web", "--replicas=3")
	p.says(0, in("preview", "--exit-code"))
	p.replace("web.yaml", "value: ours", "value: again")
	p.deploys(0)
	replicas(3)
	if env := fmt.Sprint(p.live("deployment/web").Object["spec"]); !strings.Contains(env, "again") {
		t.Errorf("the change was not applied: %s", env)
	}
}
