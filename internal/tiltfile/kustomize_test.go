package tiltfile

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

// TestRealKustomize runs the real "kubectl kustomize", which needs no cluster.
func TestRealKustomize(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("needs kubectl")
	}
	if _, err := exec.LookPath("kustomize"); err == nil {
		t.Skip("kustomize itself would be used")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"base/kustomization.yaml": "resources: [cm.yaml]\n",
		"base/cm.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf\n",
		"dev/kustomization.yaml":  "namePrefix: dev-\nnamespace: team\nresources: [../base]\n",
		"Tiltfile":                "k8s_yaml(kustomize('dev'))\n",
	} {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	res := Load(t.Context(), Options{Path: filepath.Join(dir, "Tiltfile")})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	want := model.ObjectID{Kind: "ConfigMap", Namespace: "team", Name: "dev-conf"}
	if len(res.Manifests) != 1 || res.Manifests[0].K8s.Objects[0].ID() != want {
		t.Errorf("got %+v, want %v", res.Manifests, want)
	}
}
