package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// group declares ConfigMaps as one resource.
func group(names ...string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("'%s.yaml'", n)
	}
	objects := strings.ReplaceAll(strings.Join(quoted, ", "), ".yaml'", ":configmap'")
	return fmt.Sprintf("k8s_yaml([%s])\nk8s_resource(new_name='group', objects=[%s])\n", strings.Join(quoted, ", "), objects)
}

// untouched returns a check that an object is still the same, and that nothing has written it.
func (p *project) untouched(title string) func() {
	p.t.Helper()
	before := p.live(title)
	if before == nil {
		p.t.Fatalf("%s is not there", title)
	}
	return func() {
		p.t.Helper()
		now := p.live(title)
		if now == nil || now.GetUID() != before.GetUID() || now.GetResourceVersion() != before.GetResourceVersion() {
			p.t.Errorf("%s is not what it was", title)
		}
	}
}

// absent checks that an object is gone.
func (p *project) absent(title string) {
	p.t.Helper()
	k8stest.Eventually(p.t, title+" to be gone", func() error {
		if p.live(title) != nil {
			return fmt.Errorf("%s is there", title)
		}
		return nil
	})
}

// deploys runs hone ci.
func (p *project) deploys(code int, want ...string) {
	p.t.Helper()
	p.says(code, []string{"ci", "--namespace", p.namespace, "--port", "0"}, want...)
}

// TestObjectLeaves removes an object of a resource from the Tiltfile, during a session (V2) and while none runs (V3). The remaining
// objects are not touched (V5).
func TestObjectLeaves(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b", "c")+configs("a", "b", "c"))
	s := p.up()
	s.ready("group")
	p.present([]string{"configmap/a", "configmap/b", "configmap/c"}, nil)
	s.settled()
	stays := p.untouched("configmap/a")
	p.write("Tiltfile", group("a", "c"))
	s.says(`group │ .*deleted b`)
	p.absent("configmap/b")
	s.settled()
	stays()
	s.stop()
	p.write("Tiltfile", group("a"))
	s = p.up()
	p.absent("configmap/c")
	s.ready("group")
	s.settled()
	stays()
}

// TestBackAndForth changes the Tiltfile to another one and back before hone has come far, again and again: objects that both
// declare, and objects that the last one declares, are never deleted (V9).
func TestBackAndForth(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+configs("a", "b"))
	s := p.up()
	s.ready("group")
	p.present([]string{"configmap/a", "configmap/b"}, nil)
	s.settled()
	uids := p.uids([]string{"configmap/a"})
	w, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		p.write("Tiltfile", group("a"))
		p.write("Tiltfile", group("a", "b"))
	}
	s.settled()
	p.present([]string{"configmap/a", "configmap/b"}, uids)
	w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Deleted {
			t.Error("what both declare was deleted")
		}
	}
}

// TestBackAndForthAtEachPace leaves the other Tiltfile in place for 20 to 200 ms, so that hone reads it, deploys it, and would
// delete the objects that it no longer declares: an object of a resource, and a whole resource (V9).
func TestBackAndForthAtEachPace(t *testing.T) {
	t.Parallel()
	other := "k8s_yaml('c.yaml')\nk8s_resource(objects=['c'], new_name='other')\n"
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+other+configs("a", "b", "c"))
	s := p.up()
	s.ready("group")
	s.ready("other")
	all := []string{"configmap/a", "configmap/b", "configmap/c"}
	p.present(all, nil)
	s.settled()
	uids := p.uids(all)
	w, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for pause := 20 * time.Millisecond; pause <= 200*time.Millisecond; pause += 10 * time.Millisecond {
		p.write("Tiltfile", group("a"))
		time.Sleep(pause)
		p.write("Tiltfile", group("a", "b")+other)
		time.Sleep(pause)
	}
	s.settled()
	p.present(all, uids)
	p.write("Tiltfile", group("a"))
	p.absent("configmap/b")
	p.absent("configmap/c")
	for deletions := 0; deletions < 2; {
		e, more := <-w.ResultChan()
		if !more {
			t.Fatal("the watch has ended")
		}
		if u, ok := e.Object.(*unstructured.Unstructured); ok && e.Type == watch.Deleted {
			deletions++
			if was := uids["configmap/"+u.GetName()]; was != u.GetUID() {
				t.Errorf("%s was deleted in between", u.GetName())
			}
		}
	}
	w.Stop()
}

// TestFailedDeployCollectsNothing lets a deploy fail half-way: existing objects stay, and the next successful deploy collects the
// objects that have left in both (V7).
func TestFailedDeployCollectsNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+configs("a", "b", "c", "d"))
	p.deploys(0)
	stays := p.untouched("configmap/b")
	p.replace("d.yaml", "key: value", "'not a key': value")
	p.write("Tiltfile", group("a", "c", "d"))
	p.deploys(1, `not a key`)
	p.present([]string{"configmap/a", "configmap/c"}, nil)
	stays()
	p.write("Tiltfile", group("a"))
	p.deploys(0, `deleted b`, `deleted c`)
	p.present([]string{"configmap/a"}, nil)
	p.absent("configmap/b")
	p.absent("configmap/c")
}

// TestObjectMadeAgainByOthers deletes an object by hand and makes another one of its name: it is not hone's to delete (V18).
func TestObjectMadeAgainByOthers(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+configs("a", "b"))
	p.deploys(0)
	api := p.dyn.Resource(configMaps).Namespace(p.namespace)
	was := p.live("configmap/b")
	if err := api.Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	again := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "b", "labels": was.GetLabels()}}}
	if _, err := api.Create(t.Context(), again, metav1.CreateOptions{FieldManager: "kubectl-create"}); err != nil {
		t.Fatal(err)
	}
	stays := p.untouched("configmap/b")
	p.write("Tiltfile", group("a"))
	p.deploys(0, `configmap/b: replaced outside of hone, kept`)
	stays()
	p.says(0, []string{"down"})
	stays()
}

// TestFailedTiltfileCollectsNothing breaks the Tiltfile, in a session and for ci, before and after an object has left it: no object
// is deleted until it can be evaluated again.
func TestFailedTiltfileCollectsNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+configs("a", "b"))
	s := p.up()
	s.ready("group")
	p.present([]string{"configmap/a", "configmap/b"}, nil)
	s.settled()
	stay := []func(){p.untouched("configmap/a"), p.untouched("configmap/b")}
	for i, broken := range []string{"fail('the first')\n", group("a") + "fail('the second')\n", "k8s_yaml('the-third.yaml')\n"} {
		p.write("Tiltfile", broken)
		s.says([]string{"the first", "the second", "the-third"}[i])
	}
	s.settled()
	s.stop()
	p.deploys(5, "the-third")
	for _, check := range stay {
		check()
	}
	p.write("Tiltfile", group("a"))
	p.deploys(0, "deleted b")
	stay[0]()
	p.absent("configmap/b")
}

// TestKindWithoutStatus deploys an object of a kind that hone does not know and that never reports a status: it counts as ready once it
// is there, and ci ends.
func TestKindWithoutStatus(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\nk8s_yaml('widget.yaml')\nk8s_kind('Widget')\n-- widget.yaml --\n")
	name := "g" + strings.ReplaceAll(p.namespace, "-", "")
	p.write("widget.yaml", strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP.hone.dev}
spec:
  group: GROUP.hone.dev
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}
---
apiVersion: GROUP.hone.dev/v1
kind: Widget
metadata: {name: one}
spec: {size: 3}
`, "GROUP", name))
	p.deploys(0, `SUCCESS`)
	p.says(0, []string{"down"}, "deleted one:widget", "deleted widgets")
}

// TestEverythingLeaves empties the Tiltfile: all that was deployed is deleted (K21).
func TestEverythingLeaves(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+"k8s_yaml('app.yaml')\n"+configs("a", "b")+"-- app.yaml --\n"+appYAML)
	p.deploys(0)
	p.present([]string{"configmap/a", "configmap/b", "deployment/app"}, nil)
	p.write("Tiltfile", "# nothing\n")
	p.says(0, []string{"preview", "--namespace", p.namespace}, `: 3 to delete`)
	p.deploys(0)
	for _, title := range []string{"configmap/a", "configmap/b", "deployment/app"} {
		p.absent(title)
	}
	p.says(0, []string{"down"}, `Nothing to delete`)
}

// TestDependenciesComeFirst deploys objects in the order of their dependencies: no object is older than its dependencies (K3). A
// second deploy writes nothing (K4).
func TestDependenciesComeFirst(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\nk8s_yaml('all.yaml')\n-- all.yaml --\n"+
		deployment("app", "{terminationGracePeriodSeconds: 0, serviceAccountName: runs, containers: [{name: app, image: busybox, command: [sleep, '10000'], envFrom: [{configMapRef: {name: conf}}]}]}")+
		"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: runs}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: value}\n")
	p.deploys(0, `SUCCESS`)
	app := p.live("deployment/app")
	var checks []func()
	for _, title := range []string{"configmap/conf", "serviceaccount/runs"} {
		o := p.live(title)
		if created := app.GetCreationTimestamp(); o == nil || created.Before(new(o.GetCreationTimestamp())) {
			t.Errorf("%s is younger than the workload that needs it", title)
		}
		checks = append(checks, p.untouched(title))
	}
	if ready, _, _ := unstructured.NestedInt64(app.Object, "status", "readyReplicas"); ready != 1 {
		t.Errorf("ci ended before the workload was ready: %v", app.Object["status"])
	}
	checks = append(checks, p.untouched("deployment/app"))
	p.deploys(0)
	for _, check := range checks {
		check()
	}
}

// TestAdmissionRejects lets an admission policy reject an object: the objects that depend on it are not deployed, all others are.
// When the policy is gone, only the rest is deployed (K14).
func TestAdmissionRejects(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\nk8s_yaml('all.yaml')\nk8s_resource('app', objects=['other:configmap', 'conf:configmap'])\n-- all.yaml --\n"+
		deployment("app", "{terminationGracePeriodSeconds: 0, containers: [{name: app, image: busybox, command: [sleep, '10000'], envFrom: [{configMapRef: {name: conf}}]}]}")+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: value}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")
	policies := p.dyn.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"})
	bindings := p.dyn.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"})
	object := func(kind string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": p.namespace}, "spec": spec}}
	}
	if _, err := policies.Create(t.Context(), object("ValidatingAdmissionPolicy", map[string]any{
		"failurePolicy": "Fail",
		"matchConstraints": map[string]any{
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": p.namespace}},
			"resourceRules":     []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE", "UPDATE"}, "resources": []any{"configmaps"}}},
		},
		"validations": []any{map[string]any{"expression": "object.metadata.name != 'conf'", "message": "conf is not welcome here"}},
	}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	lift := func() {
		_ = bindings.Delete(context.WithoutCancel(t.Context()), p.namespace, metav1.DeleteOptions{})
		_ = policies.Delete(context.WithoutCancel(t.Context()), p.namespace, metav1.DeleteOptions{})
	}
	t.Cleanup(lift)
	if _, err := bindings.Create(t.Context(), object("ValidatingAdmissionPolicyBinding", map[string]any{"policyName": p.namespace, "validationActions": []any{"Deny"}}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rejected := func(name string) error {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
		_, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Create(t.Context(), u, metav1.CreateOptions{DryRun: []string{"All"}})
		return err
	}
	k8stest.Eventually(t, "the policy to work", func() error {
		if rejected("conf") == nil {
			return fmt.Errorf("conf is accepted")
		}
		return nil
	})
	p.says(1, []string{"preview", "--namespace", p.namespace}, `✖ blocked +configmap/conf`, `conf is not welcome here`)
	p.deploys(1, `conf is not welcome here`, `deployment[/ ]\S*app\S*.*(waits|blocked|not deployed|not applied|because)`)
	p.present([]string{"configmap/other"}, nil)
	for _, title := range []string{"configmap/conf", "deployment/app"} {
		if p.live(title) != nil {
			t.Errorf("%s is there", title)
		}
	}
	stays := p.untouched("configmap/other")
	lift()
	k8stest.Eventually(t, "the policy to be gone", func() error { return rejected("conf") })
	p.deploys(0, `SUCCESS`)
	stays()
}

// TestInterruptedDeploy interrupts ci between two resources: it ends at once, and the next one does the rest (K15).
func TestInterruptedDeploy(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
k8s_yaml(['a.yaml', 'b.yaml'])
k8s_resource(new_name='first', objects=['a:configmap'])
local_resource('slow', 'echo sleeping; while ! test -e go; do sleep 0.1; done', resource_deps=['first'])
k8s_resource(new_name='last', objects=['b:configmap'], resource_deps=['slow'])
`+configs("a", "b"))
	s := p.startAs(p.command("ci", "--namespace", p.namespace, "--port", "0"))
	s.says(`slow │ sleeping`)
	stays := p.untouched("configmap/a")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-s.done
	if code := s.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d\n%s", code, s.out)
	}
	if p.live("configmap/b") != nil {
		t.Error("it was deployed after the interrupt")
	}
	p.write("go", "")
	p.deploys(0, `SUCCESS`)
	p.present([]string{"configmap/b"}, nil)
	stays()
}
