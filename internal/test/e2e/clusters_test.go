package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// TestTwoClusters deploys one project to two clusters, to namespaces of the same name: an object that leaves the Tiltfile is
// deleted only in the cluster that the command names. A cluster that does not answer loses no record, and a new cluster under the
// name of an old one has none (V21).
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\nk8s_yaml(['one.yaml', 'two.yaml'])\n"+
		"-- one.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {key: mine}\n"+
		"-- two.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata: {key: mine}\n")
	second := newDockerProject(t, "")
	second.dir, second.state, second.namespace = p.dir, p.state, p.namespace
	namespaces := second.dyn.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": p.namespace}}}
	if _, err := namespaces.Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := namespaces.Delete(context.WithoutCancel(t.Context()), p.namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	p.deploys(0)

	// The cluster is another one under the same name.
	config, err := os.ReadFile(os.Getenv(k8stest.DockerKubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	again := *second
	again.env = append(again.env[:len(again.env):len(again.env)], "KUBECONFIG="+filepath.Join(p.state, "again"))
	p.file("again", strings.ReplaceAll(string(config), "hone-dev-docker", "hone-dev"))
	theirs := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "one"},
		"data": map[string]any{"key": "theirs"}}}
	maps := second.dyn.Resource(configMaps).Namespace(p.namespace)
	if _, err := maps.Create(t.Context(), theirs, metav1.CreateOptions{FieldManager: "kubectl-create"}); err != nil {
		t.Fatal(err)
	}
	stays := second.untouched("configmap/one")
	again.says(0, []string{"down", "--namespace", p.namespace})
	stays()
	if err := maps.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	second.deploys(0)
	p.write("Tiltfile", "k8s_yaml('one.yaml')\n")
	stays, kept := p.untouched("configmap/two"), second.untouched("configmap/one")
	second.deploys(0)
	second.absent("configmap/two")
	stays()
	kept()

	// The cluster does not answer.
	gone := *p
	gone.env = append(gone.env[:len(gone.env):len(gone.env)], "KUBECONFIG="+filepath.Join(p.state, "gone"))
	p.file("gone", fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: hone-dev\ncontexts: [{name: hone-dev, context: {cluster: hone-dev, user: x}}]\n"+
		"clusters: [{name: hone-dev, cluster: {server: 'http://127.0.0.1:%d'}}]\nusers: [{name: x, user: {}}]\n", p.ports[0]))
	gone.says(1, []string{"down", "--namespace", p.namespace}, "refused|not answer|cannot be reached")
	stays()
	stays = second.untouched("configmap/one")
	p.deploys(0)
	p.absent("configmap/two")
	p.says(0, []string{"down", "--namespace", p.namespace})
	p.absent("configmap/one")
	stays()
	second.says(0, []string{"down", "--namespace", p.namespace})
	second.absent("configmap/one")
}

// file writes a file beside the project, where hone does not watch.
func (p *project) file(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.state, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}
