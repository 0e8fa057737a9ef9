package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/api"
)

// configTiltfile declares one ConfigMap.
const configTiltfile = "-- Tiltfile --\nk8s_yaml('conf.yaml')\n-- conf.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: mine}\n"

// TestForeignObject finds an object that hone did not create: hone leaves it alone, works on it if allowed, and gives it
// back.
func TestForeignObject(t *testing.T) {
	t.Parallel()
	p := newProject(t, configTiltfile)
	theirs := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"key": "theirs", "other": "kept"},
		"metadata": map[string]any{"name": "conf", "labels": map[string]any{"app.kubernetes.io/managed-by": "Helm"}}}}
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Create(t.Context(), theirs, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
		t.Fatal(err)
	}
	data := func() map[string]string {
		d, _, _ := unstructured.NestedStringMap(p.object("", "v1", "configmaps", "conf").Object, "data")
		return d
	}
	managedBy := func() string {
		return p.object("", "v1", "configmaps", "conf").GetLabels()["app.kubernetes.io/managed-by"]
	}
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0")
	if code != 1 || !strings.Contains(out, `configmap/conf exists already: it is managed by "Helm"`) || !strings.Contains(out, "hone up --adopt") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if d := data(); d["key"] != "theirs" || managedBy() != "Helm" {
		t.Errorf("without permission: %v, managed by %s", d, managedBy())
	}
	if out, code := p.run("ci", "--adopt", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if d := data(); d["key"] != "mine" || d["other"] != "kept" || managedBy() != "hone" {
		t.Errorf("adopted: %v, managed by %s", d, managedBy())
	}
	out, code = p.run("down", "--namespace", p.namespace)
	if code != 0 || !strings.Contains(out, "gave back conf:configmap, as it was found") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if d := data(); d["key"] != "theirs" || managedBy() != "Helm" {
		t.Errorf("given back: %v, managed by %s", d, managedBy())
	}

	// In a session it waits for a key.
	p.replace("conf.yaml", "key: mine", "key: ours")
	term := p.terminal(150, 34)
	term.keys(binary+" up --port none --namespace "+p.namespace, "Enter")
	term.shows(`✖ uncategorized +configmap/conf exists already: it is managed by "Helm"`)
	term.keys("e", "Y")
	term.shows(`take over objects of others that \S+ declares\?`)
	if d := data(); d["key"] != "theirs" {
		t.Errorf("it did not wait for the answer: %v", d)
	}
	term.keys("y")
	term.shows(`uncategorized +1 object applied`)
	if d := data(); d["key"] != "ours" || d["other"] != "kept" || managedBy() != "hone" {
		t.Errorf("taken over by a key: %v, managed by %s", d, managedBy())
	}
	p.says(0, []string{"down"}, "gave back conf:configmap, as it was found")
	if d := data(); d["key"] != "theirs" || managedBy() != "Helm" {
		t.Errorf("given back: %v, managed by %s", d, managedBy())
	}
}

// TestObjectOfAnotherProject checks that the error names the Tiltfile that the object belongs to. When the other project has taken it
// over, the first one lets it be (V11).
func TestObjectOfAnotherProject(t *testing.T) {
	t.Parallel()
	p := newProject(t, configTiltfile)
	if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	p.write("other/Tiltfile", "k8s_yaml('../conf.yaml')\n")
	out, code := p.run("ci", "-f", "other/Tiltfile", "--namespace", p.namespace, "--port", "0")
	if code != 1 || !strings.Contains(out, "it belongs to the project of ") || !strings.Contains(out, "/Tiltfile") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := p.run("down", "-f", "other/Tiltfile", "--namespace", p.namespace); code != 0 || p.live("configmap/conf") == nil {
		t.Errorf("exit code %d, or the other project's object is gone\n%s", code, out)
	}
	p.says(0, []string{"ci", "-f", "other/Tiltfile", "--namespace", p.namespace, "--port", "0", "--adopt"})
	p.write("Tiltfile", "# nothing\n")
	stays := p.untouched("configmap/conf")
	p.deploys(0)
	stays()
}

// TestSessionsBeside runs ci with other arguments next to up: neither touches the other's objects.
func TestSessionsBeside(t *testing.T) {
	t.Parallel()
	p := newProject(t, `
-- Tiltfile --
config.define_string('p')
k8s_yaml(config.parse()['p'] + '.yaml')
`+configs("a", "b"))
	s := p.startAs(p.command("up", "--stream", "--port", p.expand("$PORT3"), "--namespace", p.namespace, "--", "--p", "a"))
	p.present([]string{"configmap/a"}, nil)
	s.settled()
	out, code := p.run("ci", "--namespace", p.namespace, "--port", "0", "--", "--p", "b")
	if code != 0 || !strings.Contains(out, "also works on this project") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	p.present([]string{"configmap/a", "configmap/b"}, nil)
	s.stop() // its own declaration is not all that there is
}

// TestCITakesATurn deploys beside a session: ci waits for the update that runs there, and files that are saved meanwhile wait for
// ci. A kill ends the turn, too. A deploy to another namespace does not wait.
func TestCITakesATurn(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('gen', cmd='cat gen; while test -e slow; do sleep 0.05; done', deps=['gen'], allow_parallel=True)
-- gen --
one
-- slow --
`)
	s := p.up()
	s.becomes("gen", "updating", func(r api.Resource) bool { return r.CurrentBuild != nil })
	first := p.startAs(p.command("ci", "--port", "0"))
	first.says(`Waiting for session \S+ \(hone up, pid \d+\), which updates gen…`)
	if err := os.Remove(filepath.Join(p.dir, "slow")); err != nil {
		t.Fatal(err)
	}
	first.says(`Session \S+ \(hone up, pid \d+\) also deploys this project: its updates wait until this is done`)
	<-first.done
	if code := first.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ci has ended with %d", code)
	}
	s.ready("gen")

	p.write("slow", "")
	second := p.startAs(p.command("ci", "--port", "0"))
	second.says(`gen │ Running cmd`)
	p.write("gen", "two")
	if got := s.waits("gen", "waiting-for-turn"); got != "" {
		t.Errorf("it waits for %s", got)
	}
	if out, code := p.run("get", "sessions.hone.dev", "--port", p.expand("$PORT3")); code != 0 || !strings.Contains(out, "hone ci (pid ") {
		t.Errorf("%d %s", code, out)
	}
	if err := second.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.dir, "slow")); err != nil {
		t.Fatal(err)
	}
	if b := s.builds("gen", 2); b.Error != "" {
		t.Errorf("build: %+v", b)
	}
	s.says(`gen │ two`)

	p.write("slow", "")
	p.write("gen", "three")
	s.becomes("gen", "updating again", func(r api.Resource) bool { return r.CurrentBuild != nil })
	third := p.startAs(p.command("ci", "--port", "0", "--namespace", "elsewhere"))
	third.says(`gen │ three`)
	if err := os.Remove(filepath.Join(p.dir, "slow")); err != nil {
		t.Fatal(err)
	}
	<-third.done
}

// TestDownBesideUp takes down a resource of a running session: the session reports that, does not deploy it on its own, and deploys
// it on request. Taking down everything ends the session and its servers first.
func TestDownBesideUp(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing+`
-- more --
`)
	p.replace("Tiltfile", "k8s_yaml(", "local_resource('srv', serve_cmd='echo serving; exec sleep 100000', down_cmd='echo the server is down')\nk8s_yaml(")
	s := p.up()
	s.ready("app", "srv")
	out, code := p.run("down", "--namespace", p.namespace, "app")
	if code != 0 || !strings.Contains(out, "runs this project") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	s.says(`hone down \(pid \d+\) deletes its objects`)
	p.gone("apps", "v1", "deployments", "app")
	s.settledAs("app", "none")
	if p.live("deployment/app") != nil {
		t.Error("the session brought back what was taken down")
	}
	if out, code := p.run("trigger", "--port", p.expand("$PORT3"), "app"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	p.present([]string{"deployment/app"}, nil)
	s.ready("app")
	p.says(0, []string{"down", "--namespace", p.namespace}, `(?s)Ending session \S+ \(hone up, pid \d+\) first….*the server is down`, `deleted app`)
	select {
	case <-s.done:
	default:
		t.Error("the session still runs")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the session has ended with %d", code)
	}
	p.gone("apps", "v1", "deployments", "app")
}

// settledAs waits until a resource has an update status.
func (s *session) settledAs(name, status string) {
	s.p.t.Helper()
	s.becomes(name, status, func(r api.Resource) bool { return r.UpdateStatus == status })
}

// TestDeletedObjectComesBack deletes objects by hand while hone runs.
func TestDeletedObjectComesBack(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(nothing, "k8s_yaml('app.yaml')", "k8s_yaml(['app.yaml', 'conf.yaml'])", 1)+configs("conf"))
	s := p.up()
	s.ready("app")
	s.settled()
	for _, o := range []string{"deployment/app", "configmap/conf"} {
		before := p.live(o)
		if before == nil {
			t.Fatalf("%s is not there", o)
		}
		gvr := configMaps
		if strings.HasPrefix(o, "deployment") {
			gvr.Group, gvr.Resource = "apps", "deployments"
		}
		if err := p.dyn.Resource(gvr).Namespace(p.namespace).Delete(t.Context(), before.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		k8stest.Eventually(t, o+" to come back", func() error {
			if now := p.live(o); now == nil || now.GetUID() == before.GetUID() {
				return errors.New("it is not there")
			}
			return nil
		})
	}
	s.says("Objects Went Missing")
	s.settled()
}

// TestPolicies declares policies for objects, and then has others change and delete the objects, and removes them from the
// Tiltfile.
func TestPolicies(t *testing.T) {
	t.Parallel()
	config := func(name string) string {
		return "-- " + name + ".yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {key: mine, other: mine}\n"
	}
	group := func(name, policy string) string {
		return fmt.Sprintf("k8s_yaml('%[1]s.yaml')\nk8s_resource(new_name='%[1]s', objects=['%[1]s'], %[2]s)\n", name, policy)
	}
	p := newProject(t, "-- Tiltfile --\n"+group("shared", "ignore={'ConfigMap': '/data/key'}")+group("once", "apply='once'")+group("orphan", "on_remove='orphan'")+
		group("asked", "on_remove='confirm'")+group("down", "on_remove='down'")+config("shared")+config("once")+config("orphan")+config("asked")+config("down"))
	in := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	exists := func(want string) {
		t.Helper()
		got := ""
		for _, name := range []string{"shared", "once", "orphan", "asked", "down"} {
			if p.live("configmap/"+name) != nil {
				got += name + " "
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("there are %s, want %s", got, want)
		}
	}
	p.says(0, in("ci", "--port", "0"))
	exists("shared once orphan asked down")
	maps := p.dyn.Resource(configMaps).Namespace(p.namespace)
	if _, err := maps.Patch(t.Context(), "shared", types.MergePatchType, []byte(`{"data":{"key":"theirs"}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), "once", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.says(0, in("preview", "--exit-code"), `: 5 unchanged`)
	p.says(0, in("drift", "--exit-code"))
	for range 2 { // it is not forgotten that the object was created once
		p.replace("shared.yaml", "other: mine", "other: ours")
		p.says(0, in("ci", "--port", "0"), `configmap/once was deleted since it was applied, and is applied only once`)
		exists("shared orphan asked down")
		if data := p.object("", "v1", "configmaps", "shared").Object["data"].(map[string]any); data["key"] != "theirs" || data["other"] != "ours" {
			t.Errorf("shared has %v", data)
		}
		p.replace("shared.yaml", "other: ours", "other: mine")
	}

	p.write("Tiltfile", "k8s_yaml('shared.yaml')\n")
	p.says(0, in("preview"), `orphan  configmap/orphan in .*\n.*hone forgets it`, `keep +configmap/asked`, `: 1 to update, 1 to orphan, 2 kept`)
	p.says(0, in("ci", "--port", "0"))
	exists("shared orphan asked down")
	if labels := p.object("", "v1", "configmaps", "orphan").GetLabels(); len(labels) > 0 {
		t.Errorf("the orphan has labels %v", labels)
	}
	p.says(0, in("gc", "--yes"), `- delete  configmap/asked`, `keep +configmap/down`)
	exists("shared orphan down")
	p.says(0, []string{"down"})
	exists("orphan")
}

// TestPolicyChanges changes the on_remove policy of objects that leave the Tiltfile: the last declared policy counts, not the one
// at the creation of the object.
func TestPolicyChanges(t *testing.T) {
	t.Parallel()
	p := newProject(t, configs("loose", "tight"))
	declare := func(loose, tight string) {
		t.Helper()
		p.write("Tiltfile", fmt.Sprintf("k8s_yaml(['loose.yaml', 'tight.yaml'])\nk8s_resource(new_name='loose', objects=['loose'], on_remove='%s')\n"+
			"k8s_resource(new_name='tight', objects=['tight'], on_remove='%s')\n", loose, tight))
		p.deploys(0)
	}
	declare("orphan", "delete")
	declare("delete", "down")
	p.write("Tiltfile", "# nothing\n")
	kept := p.untouched("configmap/tight")
	p.deploys(0, `configmap/tight: it stays until hone down`)
	p.absent("configmap/loose")
	kept()
	p.says(0, []string{"down", "--namespace", p.namespace})
	p.absent("configmap/tight")
}

// TestSharedObject lets two projects share an object: it stays when the first one is taken down, and goes with the second (V13).
func TestSharedObject(t *testing.T) {
	t.Parallel()
	p := newProject(t, configTiltfile)
	p.write("other/Tiltfile", "k8s_yaml('../conf.yaml')\nk8s_resource(new_name='settings', objects=['conf'], shared=True)\n")
	p.write("Tiltfile", "k8s_yaml('conf.yaml')\nk8s_resource(new_name='conf', objects=['conf'], shared=True)\n")
	p.deploys(0)
	uid := p.live("configmap/conf").GetUID()
	p.says(0, []string{"preview", "-f", "other/Tiltfile", "--namespace", p.namespace}, "it is shared by the project of ")
	p.says(0, []string{"ci", "-f", "other/Tiltfile", "--namespace", p.namespace, "--port", "0"})
	stays := p.untouched("configmap/conf")
	p.deploys(0)
	stays()
	p.says(0, []string{"down", "--namespace", p.namespace}, "leaves conf:configmap to the project of ")
	if live := p.live("configmap/conf"); live == nil || live.GetUID() != uid {
		t.Fatalf("it went with the first project: %v", live)
	}
	p.says(0, []string{"down", "-f", "other/Tiltfile", "--namespace", p.namespace}, "deleted conf:configmap")
	if p.live("configmap/conf") != nil {
		t.Error("it was left behind by the last project")
	}
}
