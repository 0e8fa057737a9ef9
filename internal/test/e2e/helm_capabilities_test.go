package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// guarded is a chart that installs a kind, declares an object of that kind only where the cluster serves it, and tells what
// it was told.
const guarded = `
-- Tiltfile --
k8s_yaml(helm('chart', namespace='$NS'))
-- chart/Chart.yaml --
apiVersion: v2
name: guarded
version: 1.0.0
kubeVersion: '>= 1.20.0-0'
-- chart/templates/told.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: told}
data:
  version: {{ .Capabilities.KubeVersion.Version | quote }}
  deployment: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
  widget: {{ .Capabilities.APIVersions.Has "$NS.example.com/v1/Widget" | quote }}
-- chart/templates/kind.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
-- chart/templates/widget.yaml --
{{ if .Capabilities.APIVersions.Has "$NS.example.com/v1/Widget" }}
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {name: one}
{{ end }}
`

// TestHelmSeesTheCluster renders a chart with a real Helm: it sees the cluster's version and kinds, also those that the chart
// itself installs, and those of a cluster that says what it serves only after the first evaluation.
func TestHelmSeesTheCluster(t *testing.T) {
	t.Parallel()
	p := newProject(t, guarded)
	p.env = append(p.env, "PATH="+helmFolder(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Cleanup(func() { p.run("down", "--namespace", p.namespace) })
	raw, err := exec.Command("kubectl", "get", "--raw", "/version").Output()
	var server struct{ GitVersion string }
	if err := errors.Join(err, json.Unmarshal(raw, &server)); err != nil {
		t.Fatal(err)
	}
	told := func() {
		t.Helper()
		data := p.object("", "v1", "configmaps", "told").Object["data"].(map[string]any)
		for key, want := range map[string]string{"version": server.GitVersion, "deployment": "true", "widget": "true"} {
			if data[key] != want {
				t.Errorf("%s: %v, not %s", key, data[key], want)
			}
		}
	}
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	told()
	widget := p.object(p.namespace+".example.com", "v1", "widgets", "one").GetUID()

	g, kubeconfig := newGate(t)
	p.env = append(p.env, "KUBECONFIG="+kubeconfig)
	g.refuse(func(*http.Request) refusal { return refusal{status: http.StatusServiceUnavailable} })
	s := p.up()
	defer s.asDeclared()
	s.says("the cluster does not say what it serves")
	g.refuse(nil)
	s.says("The Cluster Serves More")
	s.ready("uncategorized")
	told()
	if now := p.object(p.namespace+".example.com", "v1", "widgets", "one").GetUID(); now != widget {
		t.Error("the guarded object was made again")
	}
}
