package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// unwilling is a pod that ignores SIGTERM.
var unwilling = `
-- Tiltfile --
k8s_yaml(['app.yaml', 'conf.yaml'])
k8s_resource(new_name='conf', objects=['conf:configmap'], resource_deps=['other'])
k8s_resource(new_name='other', objects=['other:configmap'])
-- app.yaml --
` + deployment("app", `
terminationGracePeriodSeconds: 9
containers: [{name: app, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, 'trap "" TERM; while true; do sleep 1; done']}]
`) + `-- conf.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
`

// hold adds a finalizer to a ConfigMap, which is removed at the end of the test at the latest.
func (p *project) hold(name string) {
	p.t.Helper()
	p.finalizers(p.t.Context(), name, `["hone.dev/test"]`)
	p.t.Cleanup(func() { p.finalizers(context.Background(), name, "null") })
}

func (p *project) finalizers(ctx context.Context, name, list string) {
	p.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, list)
	_, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		p.t.Error(err)
	}
}

func (p *project) podNames() []string {
	p.t.Helper()
	list, err := p.dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(p.namespace).List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, u := range list.Items {
		names = append(names, u.GetName())
	}
	return names
}

// TestDownSaysWhatItWaitsFor tests a pod that is slow to end, a finalizer that holds an object, and a user who
// interrupts.
func TestDownSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	p := newProject(t, unwilling)
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	pods := p.podNames()
	p.hold("conf")
	down := p.startAs(p.command("down", "--namespace", p.namespace))
	down.says(`Waiting until gone: .*configmap/conf \(finalizers \[hone.dev/test\]\)`)
	down.says(`pod/` + pods[0] + ` \(it has 9 s to end\)`)
	if code := down.stop(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	text := down.out.String()
	if !strings.Contains(text, "Interrupted; still being deleted: configmap/conf (finalizers [hone.dev/test])") ||
		!strings.Contains(text, "; not deleted: configmap/other. Run hone down again to finish.") {
		t.Errorf("it does not say what is still there:\n%s", text)
	}
	if p.live("configmap/other") == nil {
		t.Error("what the stuck object depends on is gone")
	}
	out, code := p.run("down", "--namespace", p.namespace, "--timeout", "20s")
	if code != 1 || !strings.Contains(out, "configmap/conf is still there after 20s: finalizers [hone.dev/test]") ||
		!strings.Contains(out, "kubectl patch -n "+p.namespace+" configmap conf") || !strings.Contains(out, "configmap/conf had to go first; left: configmap/other") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	k8stest.Eventually(t, "the pods to be gone", func() error {
		if left := p.podNames(); len(left) != 0 {
			return fmt.Errorf("%v are left", left)
		}
		return nil
	})
	down = p.startAs(p.command("down", "--namespace", p.namespace))
	down.says(`Waiting until gone: configmap/conf \(finalizers \[hone.dev/test\]\)`)
	p.finalizers(t.Context(), "conf", "null")
	<-down.done
	if code := down.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, down.out)
	}
	p.gone("", "v1", "configmaps", "other")
}

// TestDownLeavesOnlyWhatIsStuck deletes all other objects, of any kind, and names the one that stays.
func TestDownLeavesOnlyWhatIsStuck(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "k8s_yaml('app.yaml')", "k8s_yaml(['app.yaml', 'a.yaml', 'b.yaml', 'stuck.yaml'])\n"+
		"k8s_resource(new_name='a', objects=['a:configmap'])\nk8s_resource(new_name='stuck', objects=['stuck:configmap'])", 1)+configs("a", "b", "stuck"))
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	p.hold("stuck")
	out, code := p.run("down", "--namespace", p.namespace, "--timeout", "3s")
	if code != 1 || !strings.Contains(out, "Error: delete configmap/stuck: configmap/stuck is still there after 3s: finalizers [hone.dev/test]") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, o := range []string{"configmap/a", "configmap/b", "deployment/app"} {
		if p.live(o) != nil {
			t.Errorf("%s is still there", o)
		}
	}
	p.finalizers(t.Context(), "stuck", "null")
	if out, code := p.run("down", "--namespace", p.namespace); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestStuckWhileUp removes resources and objects from the Tiltfile while one of them has a finalizer: the others are
// deleted, the finalizer is reported, and the object is deleted when it is free. If it is declared again meanwhile, hone
// waits only for it.
func TestStuckWhileUp(t *testing.T) {
	t.Parallel()
	const both = "k8s_yaml(['app.yaml', 'a.yaml', 'b.yaml', 'stuck.yaml', 'left.yaml'])\nk8s_resource(new_name='a', objects=['a:configmap'])\n" +
		"k8s_resource(new_name='stuck', objects=['stuck:configmap'])\nk8s_resource('app', objects=['left:configmap'])\n"
	p := newProject(t, strings.Replace(nothing, "k8s_yaml('app.yaml')\n", both, 1)+configs("a", "b", "c", "stuck", "left"))
	s := p.up()
	s.ready("app")
	s.settled()
	p.hold("stuck")
	p.hold("left")
	p.write("Tiltfile", "k8s_yaml(['app.yaml', 'c.yaml'])\n")
	for _, name := range []string{"a", "b"} {
		p.gone("", "v1", "configmaps", name)
	}
	p.present([]string{"configmap/c", "deployment/app"}, nil)
	for _, name := range []string{"stuck", "left"} {
		s.says(`Waiting until gone: configmap/` + name + ` \(finalizers \[hone.dev/test\]\)`)
		s.says(`configmap/` + name + ` is still there after .*: finalizers \[hone.dev/test\]`)
		s.says(`kubectl patch -n ` + p.namespace + ` configmap ` + name + ` `)
	}
	if r, err := s.resource("app"); err != nil || r.UpdateStatus != "ok" {
		t.Errorf("app waits for an object that it no longer has: %+v, %v", r.UpdateStatus, err)
	}
	p.finalizers(t.Context(), "left", "null")
	p.gone("", "v1", "configmaps", "left")

	// The stuck one is declared again, together with one that can be applied at once.
	was := p.object("", "v1", "configmaps", "stuck").GetUID()
	p.write("new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n")
	p.write("Tiltfile", "k8s_yaml(['app.yaml', 'c.yaml', 'new.yaml', 'stuck.yaml'])\nk8s_resource(new_name='again', objects=['new:configmap', 'stuck:configmap'])\n")
	p.present([]string{"configmap/new"}, nil)
	s.says(`configmap/stuck is being deleted: waiting until it is gone`)
	p.finalizers(t.Context(), "stuck", "null")
	k8stest.Eventually(t, "stuck to be made again", func() error {
		if u := p.live("configmap/stuck"); u == nil || u.GetUID() == was {
			return errors.New("not yet")
		}
		return nil
	})
	s.settled()
}

// TestCIWaitsForWhatGoes: ci does not end before the objects that it deletes are gone, whether their resource stays or has left.
func TestCIWaitsForWhatGoes(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\n"+group("a", "b")+"k8s_yaml('c.yaml')\nk8s_resource(new_name='other', objects=['c'])\n"+configs("a", "b", "c"))
	p.deploys(0)
	for _, name := range []string{"b", "c"} {
		p.hold(name)
	}
	p.write("Tiltfile", group("a"))
	s := p.startAs(p.command("ci", "--namespace", p.namespace, "--port", "0"))
	s.says(`Waiting until gone: configmap/b \(finalizers \[hone.dev/test\]\)`)
	s.says(`Deleting the objects of other, which the Tiltfile no longer declares: configmap/c`)
	s.says(`Waiting until gone: configmap/c \(finalizers \[hone.dev/test\]\)`)
	p.finalizers(t.Context(), "b", "null")
	p.gone("", "v1", "configmaps", "b")
	select {
	case <-s.done:
		t.Errorf("it ended while configmap/c is there:\n%s", s.out)
	default:
	}
	p.finalizers(t.Context(), "c", "null")
	<-s.done
	if code := s.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(s.out.String(), "SUCCESS") {
		t.Errorf("exit code %d\n%s", code, s.out)
	}
	p.absent("configmap/c")
}
