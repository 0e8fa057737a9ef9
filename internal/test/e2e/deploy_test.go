package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// TestLabelsTieObjectsToTheResource checks hone's labels on objects and pods.
func TestLabelsTieObjectsToTheResource(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	s := p.up()
	s.ready("web")
	d := p.object("apps", "v1", "deployments", "web")
	labels := d.GetLabels()
	if labels["app.kubernetes.io/managed-by"] != "hone" || labels["hone.dev/resource"] != "web" || labels["hone.dev/project"] == "" {
		t.Errorf("labels of the Deployment: %v", labels)
	}
	if d.GetAnnotations()["hone.dev/run-id"] == "" || d.GetAnnotations()["hone.dev/applied-hash"] == "" {
		t.Errorf("annotations of the Deployment: %v", d.GetAnnotations())
	}
	hash, _, _ := unstructured.NestedString(d.Object, "spec", "template", "metadata", "labels", "hone.dev/pod-template-hash")
	list, err := p.dyn.Resource(pods).Namespace(p.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "hone.dev/pod-template-hash=" + hash})
	if err != nil || hash == "" || len(list.Items) != 1 {
		t.Errorf("pods with hash %q: %d, %v", hash, len(list.Items), err)
	}
	if m := d.GetManagedFields(); len(m) == 0 || m[0].Manager != "hone" || m[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("managed fields: %+v", m)
	}
}

// TestDriftIsRestored changes an object by hand: the next run restores it, and an untouched object stays as it is.
func TestDriftIsRestored(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing+`
-- config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data: {key: declared}
`)
	p.replace("Tiltfile", "k8s_yaml('app.yaml')", "k8s_yaml(['app.yaml', 'config.yaml'])")
	run := func() string {
		out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		return out
	}
	run()
	patch := []byte(`{"data":{"key":"by hand","extra":"by hand"}}`)
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Patch(t.Context(), "config", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	out := run()
	data, _, _ := unstructured.NestedStringMap(p.object("", "v1", "configmaps", "config").Object, "data")
	if data["key"] != "declared" || data["extra"] != "by hand" {
		t.Errorf("data: %v", data)
	}
	if !strings.Contains(out, "app:deployment (unchanged)") || strings.Contains(out, "config:configmap (unchanged)") || !strings.Contains(out, "somebody") {
		t.Errorf("output:\n%s", out)
	}
}

// TestImmutableField replaces an object only if the field is really immutable; an invalid value is an error that does
// not affect the object.
func TestImmutableField(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing)
	s := p.up()
	s.ready("app")
	before := p.object("apps", "v1", "deployments", "app").GetUID()

	p.replace("app.yaml", "replicas: 0", "replicas: -1")
	s.becomes("app", "failed", failed)
	s.says(`spec.replicas`)
	if d := p.object("apps", "v1", "deployments", "app"); d.GetUID() != before {
		t.Error("an invalid value replaced the object")
	}
	p.write("app.yaml", strings.ReplaceAll(appYAML, "app: app", "app: other"))
	s.await("the Deployment to be replaced", func() error {
		d, err := p.get("apps", "v1", "deployments", "app")
		if err == nil && d.GetUID() == before {
			err = fmt.Errorf("it is still the old one")
		}
		return err
	})
	s.says(`spec.selector`)
	s.ready("app")
}

// TestForeignContextIsRefused uses a context that is not a development cluster, which the Tiltfile may allow.
func TestForeignContextIsRefused(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing)
	kubeconfig := foreignKubeconfig(t)
	run := func(args ...string) (string, int) {
		c := p.command(append(args, "--namespace", p.namespace)...)
		c.Env = append(c.Env, "KUBECONFIG="+kubeconfig)
		return p.finish(c)
	}
	out, code := run("ci", "--port", "0")
	if code != 5 || !strings.Contains(out, "production") || !strings.Contains(out, "allow_k8s_contexts") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := p.get("apps", "v1", "deployments", "app"); err == nil {
		t.Error("something was applied nevertheless")
	}
	allowed := "allow_k8s_contexts('production')\nk8s_yaml"
	p.replace("Tiltfile", "k8s_yaml", allowed)
	if out, code := run("ci", "--port", "0"); code != 0 {
		t.Errorf("allowed: exit code %d\n%s", code, out)
	}
	p.replace("Tiltfile", allowed, "k8s_yaml")
	if out, code := run("down"); code != 5 || !strings.Contains(out, "production") {
		t.Errorf("down: exit code %d\n%s", code, out)
	}
	if _, err := p.get("apps", "v1", "deployments", "app"); err != nil {
		t.Errorf("down has deleted something: %v", err)
	}
	p.replace("Tiltfile", "k8s_yaml", allowed)
	if out, code := run("down"); code != 0 {
		t.Errorf("down, allowed: exit code %d\n%s", code, out)
	}
}

// TestDown deletes only the created objects, even if the Tiltfile is gone.
func TestDown(t *testing.T) {
	t.Parallel()
	p := newProject(t, web)
	foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign"}}}
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, tiltfile := range []string{"as it was", "broken"} {
		if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
			t.Fatalf("ci: %d\n%s", code, out)
		}
		if tiltfile == "broken" {
			p.write("Tiltfile", "this is no Tiltfile")
		}
		out, code := p.run("down", "--namespace", p.namespace)
		if code != 0 {
			t.Errorf("down: %d\n%s", code, out)
		}
		if _, err := p.get("apps", "v1", "deployments", "web"); err == nil {
			t.Errorf("the Deployment is still there\n%s", out)
		}
		if _, err := p.get("", "v1", "services", "web"); err == nil {
			t.Errorf("the Service is still there\n%s", out)
		}
	}
	p.object("", "v1", "configmaps", "foreign")
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 || !strings.Contains(out, "Nothing to delete") {
		t.Errorf("down again: %d\n%s", code, out)
	}
}

// TestDownNames deletes the named resource only.
func TestDownNames(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing+`
-- other.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: other}
spec:
  replicas: 0
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: app, image: busybox}]}
`)
	p.replace("Tiltfile", "k8s_yaml('app.yaml')", "k8s_yaml(['app.yaml', 'other.yaml'])")
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("ci: %d\n%s", code, out)
	}
	if out, code := p.run("down", "--namespace", p.namespace, "other"); code != 0 {
		t.Errorf("down: %d\n%s", code, out)
	}
	p.gone("apps", "v1", "deployments", "other")
	p.object("apps", "v1", "deployments", "app")
}

// TestNamespaceAndCRD applies a namespace with its content, and a kind with an object of that kind, in one go.
func TestNamespaceAndCRD(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml('all.yaml')
-- all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: inside, namespace: $NS-made}
---
apiVersion: $NS.example.com/v1
kind: Widget
metadata: {name: one}
spec: {size: 3}
---
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
---
apiVersion: v1
kind: Namespace
metadata: {name: $NS-made}
`)
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	p.object(p.namespace+".example.com", "v1", "widgets", "one")
	if out, code := p.run("down", "--namespace", p.namespace, "--delete-namespaces"); code != 0 {
		t.Errorf("down: %d\n%s", code, out)
	}
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := p.dyn.Resource(crds).Get(t.Context(), "widgets."+p.namespace+".example.com", metav1.GetOptions{}); err == nil {
		t.Error("the definition is still there")
	}
}

// TestLocalCommandsUseTheSameCluster lets a command of the user print the cluster and namespace that it would use.
func TestLocalCommandsUseTheSameCluster(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
print('evaluated in', str(local('grep namespace: ${KUBECONFIG%%:*}', quiet=True)).strip())
local_resource('shows', 'grep namespace: ${KUBECONFIG%%:*}; echo port $TILT_PORT')
`)
	s := p.up()
	s.ready("shows")
	s.says(`shows │ +namespace: ` + p.namespace)
	s.says(fmt.Sprintf(`shows │ port %d`, s.port))
	s.says(`evaluated in namespace: ` + p.namespace)
}
