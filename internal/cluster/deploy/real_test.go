package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// The tests in this file need a real API server: schemas, field ownership, controllers.

func TestRealConflictIsNamedAndTakenBack(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	objects := c.inject(t, deploymentYAML("web", "web", "80"))
	c.mustApply(t, objects)
	c.merge(t, objects[0], `{"spec":{"replicas":1,"paused":true}}`)
	_, log := c.mustApply(t, objects)
	if !strings.Contains(log, `warn: deployment/web: .spec.replicas was changed by "somebody": taken back`) {
		t.Errorf("log %q", log)
	}
	live := c.get(t, objects[0])
	if n, _ := number(field(live.Object, "spec")["replicas"]); n != 0 {
		t.Errorf("replicas %v", n)
	}
	if _, log = c.mustApply(t, objects); !strings.Contains(log, "(unchanged)") {
		t.Errorf("log %q", log)
	}
}

func TestRealSidecarIsNoDrift(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	objects := c.inject(t, deploymentYAML("web", "web", "80"))
	c.mustApply(t, objects)
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"busybox"}]}}}}`
	if _, err := c.client(t, objects[0]).Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, log := c.mustApply(t, objects); !strings.Contains(log, "(unchanged)") {
		t.Errorf("log %q", log)
	}
}

func TestRealUnknownFieldsAreLeftOut(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	text := strings.Replace(deploymentYAML("web", "web", "80, prot: x"), "replicas: 0", "replicas: 0\n  replica: 1", 1)
	_, log := c.mustApply(t, c.inject(t, text))
	for _, path := range []string{".spec.replica:", `.spec.template.spec.containers[name="main"].ports[containerPort=80,protocol="TCP"].prot:`} {
		if !strings.Contains(log, "warn: deployment/web: the API server does not know the field "+path+" left out") {
			t.Errorf("log lacks %s: %s", path, log)
		}
	}
}

func TestRealWrongTypeIsProblem(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	text := strings.Replace(deploymentYAML("web", "web", "80"), "image: busybox", "image: busybox\n        env: [{name: A, value: 17}]", 1)
	_, _, err := c.apply(t, c.inject(t, text))
	p, ok := problem.Of(err)
	want := `the API server cannot read the object: .spec.template.spec.containers[name="main"].env[name="A"].value: expected string, got 17`
	if !ok || p.Summary != want {
		t.Errorf("got %v", err)
	}
}

func TestRealRepeatedPortsAreWritten(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	text := deploymentYAML("web", "web", "80, name: a}, {containerPort: 80, name: b")
	_, log := c.mustApply(t, c.inject(t, text))
	if !strings.Contains(log, "duplicate entries for key") {
		t.Errorf("log %q", log)
	}
	if _, log = c.mustApply(t, c.inject(t, text)); !strings.Contains(log, "(unchanged)") {
		t.Errorf("log %q", log)
	}
	_, log = c.mustApply(t, c.inject(t, deploymentYAML("web", "web", "80")))
	if strings.Contains(log, "warn") {
		t.Errorf("log %q", log)
	}
	live := c.get(t, c.inject(t, text)[0])
	if ports := itemsOf(itemsOf(field(live.Object, "spec", "template", "spec"), "containers")[0], "ports"); len(ports) != 1 {
		t.Errorf("ports %v", ports)
	}
}

func TestRealJobRunsAgain(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	job := func(arg string) []*unstructured.Unstructured {
		return c.inject(t, fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox, command: [echo, %s]}]
`, arg))
	}
	first, _ := c.mustApply(t, job("one"))
	if same, log := c.mustApply(t, job("one")); same[0].UID != first[0].UID {
		t.Errorf("replaced without need: %s", log)
	}
	second, log := c.mustApply(t, job("two"))
	if first[0].UID == second[0].UID || !strings.Contains(log, "spec.template cannot be changed in place") {
		t.Errorf("log %q", log)
	}
}

func TestRealServiceIsReplacedForItsClusterIP(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	service := func(ip string) []*unstructured.Unstructured {
		return c.inject(t, "\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {"+ip+"selector: {app: web}, ports: [{port: 80}]}\n")
	}
	first, _ := c.mustApply(t, service(""))
	second, log := c.mustApply(t, service("clusterIP: None, "))
	if first[0].UID == second[0].UID || !strings.Contains(log, "spec.clusterIP") {
		t.Errorf("log %q", log)
	}
}

func TestRealClaimIsNotReplaced(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	claim := func(class string) []*unstructured.Unstructured {
		return c.inject(t, "\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], "+
			"storageClassName: "+class+", resources: {requests: {storage: 1024Mi}}}\n")
	}
	first, _ := c.mustApply(t, claim("one"))
	if _, log := c.mustApply(t, claim("one")); !strings.Contains(log, "(unchanged)") {
		t.Errorf("log %q", log)
	}
	_, _, err := c.apply(t, claim("two"))
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "its data would be lost") {
		t.Errorf("got %v", err)
	}
	if live := c.get(t, claim("one")[0]); string(live.GetUID()) != first[0].UID {
		t.Error("the claim was replaced")
	}
}

func TestRealDefinitionAndObjectInOneApply(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	group := "g" + randomText() + ".hone.dev"
	text := fmt.Sprintf(`
apiVersion: %[1]s/v1
kind: Widget
metadata: {name: one}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`, group)
	objects := c.inject(t, text)
	done, _ := c.mustApply(t, objects)
	a := NewApplier(c.dyn, c.mapper)
	t.Cleanup(func() {
		err := a.Delete(context.Background(), DeleteRequest{Objects: refsOf(objects), Wait: true, WaitLimit: 20 * time.Second})
		if err != nil {
			t.Error(err)
		}
	})
	if len(done) != 2 || done[0].Kind != "Widget" || done[0].Namespace != c.namespace {
		t.Errorf("applied %v", done)
	}
	if _, log := c.mustApply(t, c.inject(t, text)); strings.Count(log, "(unchanged)") != 2 {
		t.Errorf("log %q", log)
	}
	foreign := objects[0].DeepCopy()
	foreign.SetName("two")
	foreign.SetLabels(nil)
	if _, err := c.client(t, foreign).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	log := &recorder{}
	if err := a.Delete(t.Context(), DeleteRequest{Objects: refsOf(objects), Wait: true, WaitLimit: 20 * time.Second, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "holds objects that hone did not make (widget/two), kept") || c.get(t, objects[1]) == nil {
		t.Errorf("log %q", log)
	}
	if err := c.client(t, foreign).Delete(t.Context(), "two", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), DeleteRequest{Objects: refsOf(objects[1:]), Wait: true, WaitLimit: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	_, err := a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects[:1], Namespace: c.namespace})
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, `the cluster has no kind "Widget" in `+group) {
		t.Errorf("without the definition: %v", err)
	}
}

func TestRealNamespaceWithForeignObjectsIsKept(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	name := "hone-test-" + randomText()
	objects := c.inject(t, fmt.Sprintf("\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: %[1]s}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: %[1]s}\n", name))
	c.mustApply(t, objects)
	hand := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "hand", "namespace": name}}}
	if _, err := c.client(t, hand).Create(t.Context(), hand, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	a, log := NewApplier(c.dyn, c.mapper), &recorder{}
	req := DeleteRequest{Objects: refsOf(objects), Wait: true, WaitLimit: 20 * time.Second, Logger: log}
	if err := a.Delete(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "namespace/"+name+": holds objects that hone did not make (configmap/hand), kept") {
		t.Errorf("log %q", log)
	}
	if c.get(t, objects[0]) != nil || c.get(t, hand) == nil {
		t.Error("the wrong objects are there")
	}
	if err := c.client(t, hand).Delete(t.Context(), "hand", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), req); err != nil || c.get(t, objects[1]) != nil {
		t.Errorf("the namespace is still there: %v", err)
	}
}

func TestRealRunIDIsNoChange(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	objects := c.inject(t, configYAML)
	if _, _, err := c.apply(t, objects, WithRunID("run1")); err != nil {
		t.Fatal(err)
	}
	_, log, err := c.apply(t, objects, WithRunID("run2"))
	if err != nil || !strings.Contains(log, "(unchanged)") {
		t.Errorf("%v, log %q", err, log)
	}
	if got := annotation(c.get(t, objects[0]), AnnotationRunID); got != "run1" {
		t.Errorf("run id %q", got)
	}
}

// manyDeployments returns n desired Deployments as n resources.
func (c cluster) manyDeployments(t testing.TB, n int) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for i := range n {
		name := fmt.Sprintf("web%d", i)
		all = append(all, c.injectAs(t, model.ManifestName(name), "project1", deploymentYAML(name, name, "80"))...)
	}
	return all
}

func TestRealManyUnchangedAreQuick(t *testing.T) {
	c := realCluster(t)
	const n = 40
	all := c.manyDeployments(t, n)
	a := c.asSession()
	if _, err := a.Apply(t.Context(), ApplyRequest{Objects: all}); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := a.Prefetch(t.Context(), all, inLedger(true)); err != nil {
		t.Fatal(err)
	}
	listed := time.Since(start)
	for _, u := range all {
		log := &recorder{}
		if _, err := a.Apply(t.Context(), ApplyRequest{Objects: []*unstructured.Unstructured{u}, Logger: log}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "(unchanged)") {
			t.Fatalf("log %q", log)
		}
	}
	t.Logf("%d unchanged Deployments: %s, of which %s for the list", n, time.Since(start), listed)
}

func BenchmarkRealUnchanged300(b *testing.B) {
	c := realCluster(b)
	all := c.manyDeployments(b, 300)
	a := c.asSession()
	if _, err := a.Apply(b.Context(), ApplyRequest{Objects: all}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := a.Prefetch(b.Context(), all, inLedger(true)); err != nil {
			b.Fatal(err)
		}
		for _, u := range all {
			if _, err := a.Apply(b.Context(), ApplyRequest{Objects: []*unstructured.Unstructured{u}}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
