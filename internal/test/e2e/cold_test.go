package e2e

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
)

// TestColdStartUnderFaults starts a project of many objects on an API server that refuses half of all requests, and on one that is far
// away. Each object is created by one request, and those of a resource come after all that it depends on.
func TestColdStartUnderFaults(t *testing.T) {
	for name, fault := range map[string]func(*proxy.Gateway){
		"half of all requests is refused": func(g *proxy.Gateway) { g.Set(proxy.Faults{TooMany: 0.5}) },
		"behind 200 ms":                   func(g *proxy.Gateway) { g.Wire.Stretch(proxy.Line{Delay: 100 * time.Millisecond}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 40
			var tiltfile, all strings.Builder
			for i := range n {
				fmt.Fprintf(&all, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config-%d}\n---\n", i)
				all.WriteString(strings.ReplaceAll(deployment(fmt.Sprintf("app-%d", i), "containers: [{name: main, image: busybox}]"), "\nspec:\n", "\nspec:\n  replicas: 0\n") + "---\n")
				deps := ""
				if i >= n/2 {
					deps = ", resource_deps=['app-0']"
				}
				fmt.Fprintf(&tiltfile, "k8s_resource('app-%d', objects=['config-%d:configmap']%s)\n", i, i, deps)
			}
			p := newProject(t, "-- Tiltfile --\nk8s_yaml('all.yaml')\n"+tiltfile.String()+"-- all.yaml --\n"+all.String())
			c, err := harness.Connect("")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			g, err := c.Gateway(kubeconfig, rand.New(rand.NewPCG(1, 1)))
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			fault(g)
			p.env = append(p.env, "KUBECONFIG="+kubeconfig)
			began := time.Now()
			out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			writes := map[string]time.Time{}
			for _, e := range p.audited(began) {
				object := e.ObjectRef.Resource + "/" + e.ObjectRef.Name
				if _, twice := writes[object]; twice {
					t.Errorf("%s was written twice", object)
				}
				writes[object] = e.ReceivedAt
			}
			for i := range n {
				app, config := fmt.Sprintf("deployments/app-%d", i), fmt.Sprintf("configmaps/config-%d", i)
				if writes[app].IsZero() || writes[config].IsZero() {
					t.Errorf("%s or %s was not created", app, config)
				}
				if i >= n/2 && writes[app].Before(writes["deployments/app-0"]) {
					t.Errorf("%s was created before app-0", app)
				}
			}
		})
	}
}
