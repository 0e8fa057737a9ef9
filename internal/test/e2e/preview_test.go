package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestPreview previews a project that is not deployed, is deployed, was changed by hand, and declares less. Each time ci then does
// exactly the previewed changes.
func TestPreview(t *testing.T) {
	t.Parallel()
	p := newProject(t, configTiltfile+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {password: hunter22hunter}\n")
	preview := func(code int, args []string, want ...string) string {
		t.Helper()
		out, got := p.run(append([]string{"preview", "--namespace", p.namespace, "--exit-code"}, args...)...)
		if got != code {
			t.Errorf("exit code %d, want %d\n%s", got, code, out)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("it does not say %q:\n%s", w, out)
			}
		}
		if strings.Contains(out, "hunter") || strings.Contains(out, "aHVudGVy") {
			t.Errorf("it shows a secret:\n%s", out)
		}
		return out
	}
	ci := func() {
		t.Helper()
		if out, code := p.run("ci", "--namespace", p.namespace, "--port", "0"); code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
	}
	preview(2, nil, "+ create  configmap/conf in "+p.namespace, "+ create  secret/token in "+p.namespace, ": 2 to create")
	if p.live("configmap/conf") != nil {
		t.Error("a preview has written")
	}
	ci()
	preview(0, nil, ": 2 unchanged")

	patch := []byte(`{"data":{"key":"by hand","foreign":"kept"}}`)
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Patch(t.Context(), "conf", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	preview(2, nil, "~ update  configmap/conf", "! data.key: by hand → mine  (drift, by kubectl-edit at ", ": 1 to update, 1 unchanged")
	drift := func(code int, args []string, want ...string) {
		t.Helper()
		p.says(code, append([]string{"drift", "--exit-code"}, args...), want...)
	}
	drift(2, nil, `! data\.key: by hand → mine  \(drift, by kubectl-edit at `, `: 1 to update, 1 unchanged`)
	p.replace("conf.yaml", "key: mine", "key: ours")
	drift(2, []string{"-o", "json"}, `"to": "mine"`) // the applied value, whatever is declared now
	drift(1, []string{"nobody"}, `nothing is recorded for resource "nobody"`)
	p.replace("conf.yaml", "hunter22hunter", "hunter33hunter")
	preview(2, nil, "x data.key: by hand → ours  (conflict, applied was mine, by kubectl-edit at ", "~ data.password: (changed)", ": 2 to update")
	first := preview(2, []string{"-o", "json"}, `"class": "conflict"`, `"manager": "kubectl-edit"`, `"masked": true`)
	if second := preview(2, []string{"-o", "json"}); second != first {
		t.Errorf("two previews differ:\n%s\n%s", first, second)
	}
	ci()
	if d := p.object("", "v1", "configmaps", "conf").Object["data"].(map[string]any); d["key"] != "ours" || d["foreign"] != "kept" {
		t.Errorf("deployed %v", d)
	}
	preview(0, nil, ": 2 unchanged")
	if err := p.dyn.Resource(configMaps).Namespace(p.namespace).Delete(t.Context(), "conf", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	drift(2, nil, `deleted by others since it was applied`, `: 1 to create, 1 unchanged`)
	ci()
	drift(0, nil, `: 2 unchanged`)

	p.write("conf.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {key: ours}\n")
	preview(2, nil, "- delete  secret/token in "+p.namespace, "no longer declared", ": 1 to delete, 1 unchanged")
	p.replace("conf.yaml", "kind: ConfigMap", "kind: ConfigMep")
	preview(1, nil, `the cluster has no kind "ConfigMep" in v1`)
	p.write("Tiltfile", "k8s_yaml(\n")
	preview(5, nil, "Tiltfile")
	drift(0, nil, `: 2 unchanged`) // no Tiltfile is needed
}

// TestDeployPlan writes plans and carries them out: one that holds, one for which the cluster has changed, one for which the Tiltfile
// has, and one that was carried out already (K19). Whatever is refused ends with an error.
func TestDeployPlan(t *testing.T) {
	t.Parallel()
	p := newProject(t, configTiltfile+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {password: hunter22hunter}\n")
	inNamespace := []string{"--namespace", p.namespace}
	plan := filepath.Join(p.dir, "next.plan")
	write := func() {
		t.Helper()
		p.says(0, append([]string{"preview", "-o", "plan=" + plan}, inNamespace...), `The plan is in .*next\.plan; hone deploy .*next\.plan does it`)
		raw, err := os.ReadFile(plan)
		if err != nil || strings.Contains(string(raw), "hunter") || strings.Contains(string(raw), "aHVudGVy") {
			t.Errorf("the plan holds a secret, or %v:\n%s", err, raw)
		}
	}
	value := func() any {
		return p.object("", "v1", "configmaps", "conf").Object["data"].(map[string]any)["key"]
	}
	p.says(1, append([]string{"deploy"}, inNamespace...), `(?m)^Error: cannot ask whether to deploy`)
	p.says(1, []string{"deploy", "missing.plan"}, `(?m)^Error: there is no plan missing\.plan`)
	if p.live("configmap/conf") != nil {
		t.Fatal("it was deployed")
	}
	write()
	p.says(1, []string{"deploy", plan, "--context", "another"}, `(?m)^Error: --context is given, and the plan .* holds it already`)
	p.says(0, []string{"deploy", plan, "--port", "0"}, `\+ create  configmap/conf in `, `: 2 to create`)
	if value() != "mine" {
		t.Errorf("deployed %v", value())
	}
	p.says(1, []string{"deploy", plan, "--port", "0"}, `(?m)^Error: the plan is stale`, `secret/token in \S+: unchanged, in another way than the plan shows`)

	p.replace("conf.yaml", "key: mine", "key: ours")
	write()
	patch := []byte(`{"metadata":{"labels":{"foreign":"yes"}}}`)
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Patch(t.Context(), "conf", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-label"}); err != nil {
		t.Fatal(err)
	}
	p.says(0, []string{"deploy", plan, "--port", "0"}, `~ update  configmap/conf in `, `data\.key: mine → ours`) // the label of others does not matter
	if value() != "ours" {
		t.Errorf("deployed %v", value())
	}

	p.replace("conf.yaml", "key: ours", "key: theirs")
	write()
	patch = []byte(`{"data":{"key":"by hand"}}`)
	if _, err := p.dyn.Resource(configMaps).Namespace(p.namespace).Patch(t.Context(), "conf", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	p.says(1, []string{"deploy", plan, "--port", "0"}, `(?m)^Error: the plan is stale`, `configmap/conf in \S+: update, in another way than the plan shows`)
	write()
	p.replace("conf.yaml", "key: theirs", "key: nobodys")
	p.says(1, []string{"deploy", plan, "--port", "0"}, `(?m)^Error: the plan is stale`)
	if value() != "by hand" {
		t.Errorf("a stale plan was carried out: %v", value())
	}
	p.says(0, append([]string{"deploy", "--yes", "--port", "0"}, inNamespace...), `x data\.key: by hand → nobodys  \(conflict, applied was ours, by kubectl-edit at `)
	if value() != "nobodys" {
		t.Errorf("deployed %v", value())
	}

	p.replace("conf.yaml", "key: nobodys", "no key: mine")
	p.says(1, append([]string{"deploy", "--yes", "--port", "0"}, inNamespace...), `✖ blocked  configmap/conf in `, `(?m)^Error: 1 object of this plan would be refused, so nothing was done`)
	p.replace("conf.yaml", "no key: mine", "key: mine")
	term := p.terminal(120, 34)
	for _, tc := range [][2]string{{"n", `(?s)configmap/conf.*data\.key: nobodys → mine.*Deploy this\? \(y/N\) n\s+Nothing was done\.`}, {"y", `(?s)Deploy this\? \(y/N\) y.*code=0`}} {
		term.keys("clear; "+binary+" deploy --port 0 --namespace "+p.namespace+"; echo code=$?", "Enter")
		term.shows(`Deploy this\? \(y/N\) ?$`)
		if value() != "nobodys" {
			t.Errorf("it did not wait for the answer: %v", value())
		}
		term.keys(tc[0], "Enter")
		term.shows(tc[1])
	}
	if value() != "mine" {
		t.Errorf("deployed %v", value())
	}
}

// TestGC keeps objects that are no longer declared with --no-prune, within a resource and of a resource that is gone, and deletes
// only them with hone gc (V6).
func TestGC(t *testing.T) {
	t.Parallel()
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: web}}\n" +
		"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: main, image: busybox}]}\n"
	p := newProject(t, configTiltfile+"---\n"+web)
	in := func(args ...string) []string { return append(args, "--namespace", p.namespace) }
	exists := func(want map[string]bool) {
		t.Helper()
		for title, there := range want {
			if got := p.live(title) != nil; got != there {
				t.Errorf("%s exists: %v, want %v", title, got, there)
			}
		}
	}
	p.says(0, in("drift"), `Nothing to compare: hone has applied nothing for this Tiltfile\.\n`)
	p.says(0, in("gc", "--yes"), `Nothing to delete`)
	p.says(0, in("ci", "--port", "0"))
	p.says(0, in("gc", "--yes"), `Nothing to delete`)
	p.says(0, in("drift"), `: 2 unchanged\n`)
	p.replace("conf.yaml", "{name: conf}", "{name: conf2}")
	p.replace("conf.yaml", "---\n"+web, "")
	p.says(0, in("ci", "--port", "0", "--no-prune"), `configmap/conf\S*, which is no longer declared, is kept: --no-prune`, `The objects of web, which the Tiltfile no longer declares, are kept: --no-prune`)
	exists(map[string]bool{"configmap/conf": true, "configmap/conf2": true, "deployment/web": true})
	p.says(0, in("gc", "--dry-run"), `- delete  deployment/web in `, `- delete  configmap/conf in `, `: 2 to delete\n`)
	p.says(1, in("gc"), `cannot ask whether to delete`)
	exists(map[string]bool{"configmap/conf": true, "configmap/conf2": true, "deployment/web": true})
	p.says(0, in("gc", "--yes"), `: 2 to delete`, `Done\.\n`)
	exists(map[string]bool{"configmap/conf": false, "configmap/conf2": true, "deployment/web": false})
	p.says(0, in("gc", "--yes"), `Nothing to delete`)
	p.says(0, []string{"down"})
	exists(map[string]bool{"configmap/conf2": false})
}

// TestGCBesideSession calls gc beside a session that declares more because of its arguments, and because it is hone up: the additional
// objects stay (V6).
func TestGCBesideSession(t *testing.T) {
	t.Parallel()
	p := newProject(t, strings.Replace(configTiltfile, "k8s_yaml('conf.yaml')", "config.define_bool('more')\nk8s_yaml('conf.yaml')\nif config.parse().get('more'):\n  k8s_yaml('more.yaml')\n"+
		"if config.tilt_subcommand == 'up':\n  k8s_yaml('only-up.yaml')", 1)+configs("more", "only-up"))
	s := p.startAs(p.command("up", "--stream", "--port", fmt.Sprint(p.ports[3]), "--namespace", p.namespace, "--", "--more"))
	s.says(`more:configmap`)
	s.settled()
	in := func(args ...string) []string {
		return append([]string{"gc", "--yes", "--namespace", p.namespace}, args...)
	}
	p.says(1, in(), `- delete  configmap/more`, `works on this project with other Tiltfile arguments \(--more\)`, `hone stop --session`)
	p.says(1, []string{"gc", "--yes", "--", "--more"}, `works on this project in namespace `)
	p.says(0, in("--", "--more"), `Nothing to delete`)
	for _, title := range []string{"configmap/more", "configmap/only-up"} {
		if p.live(title) == nil {
			t.Errorf("gc deleted %s, which the session has deployed", title)
		}
	}
	s.stop()
	p.says(0, in("--", "--more"), `- delete  configmap/only-up in `, `: 1 to delete`) // no session declares it now
}

// TestPruneGuard makes a pattern match no file: more than half of the objects would be deleted, within a resource and of resources that
// are gone, and they stay until the user allows the deletion (V8).
func TestPruneGuard(t *testing.T) {
	t.Parallel()
	var files strings.Builder
	for i := range 5 {
		fmt.Fprintf(&files, "-- k8s/conf%d.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf%d}\n", i, i)
	}
	const all = "k8s_yaml(listdir('k8s'))\nk8s_yaml('web.yaml')\nk8s_yaml('conf.yaml')\n"
	p := newProject(t, "-- Tiltfile --\n"+all+"-- conf.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n"+files.String()+
		"-- web.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: web}}\n"+
		"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: main, image: busybox}]}\n")
	ci := func(want string, args ...string) {
		t.Helper()
		p.says(0, append([]string{"ci", "--port", "0", "--namespace", p.namespace}, args...), want)
	}
	exists := func(want bool) {
		t.Helper()
		for _, title := range []string{"configmap/conf0", "configmap/conf4", "deployment/web"} {
			if got := p.live(title) != nil; got != want {
				t.Errorf("%s exists: %v", title, got)
			}
		}
	}
	ci(`conf4:configmap`)
	exists(true)
	p.write("Tiltfile", "k8s_yaml('conf.yaml')\n")
	p.says(0, []string{"preview", "--namespace", p.namespace}, `keep  deployment/web in .*\n.*no longer declared: 6 of 7 objects would be deleted`, `: 6 kept, 1 unchanged`)
	p.says(0, []string{"preview", "--namespace", p.namespace, "--prune=all"}, `: 6 to delete, 1 unchanged`)
	ci(`The objects of web, which the Tiltfile no longer declares, are kept: 6 of 7 objects would be deleted`)
	exists(true)
	p.says(1, []string{"ci", "--prune=some"}, `unknown --prune "some"`)
	ci(`Collecting what uncategorized no longer declares`, "--prune=all")
	exists(false)
	if p.live("configmap/conf") == nil {
		t.Error("what is declared is gone")
	}

	// In a session it waits for a key.
	p.write("Tiltfile", all)
	term := p.terminal(150, 34)
	term.keys(binary+" up --port none --namespace "+p.namespace, "Enter")
	term.shows(`✔ 3 ok`)
	p.present([]string{"configmap/conf0", "configmap/conf4", "deployment/web"}, nil)
	p.write("Tiltfile", "k8s_yaml('conf.yaml')\n")
	term.shows(`6 of 7 objects would be deleted.*X deletes them; or fix the Tiltfile`)
	exists(true)
	p.write("Tiltfile", all)
	term.hides(`X deletes them; or fix the Tiltfile`)
	p.write("Tiltfile", "k8s_yaml('conf.yaml')\n")
	term.shows(`6 of 7 objects would be deleted.*X deletes them; or fix the Tiltfile`)
	term.keys("X")
	term.shows(`delete all objects that the Tiltfile no longer declares\?`)
	exists(true)
	term.keys("y")
	for _, title := range []string{"configmap/conf0", "configmap/conf4", "deployment/web"} {
		p.absent(title)
	}
	term.hides(`X deletes them; or fix the Tiltfile`)
	if p.live("configmap/conf") == nil {
		t.Error("what is declared is gone")
	}
	p.says(0, []string{"down"}, `deleted conf`)
}

// TestPreviewOfHandOver previews workloads that take the place of others, of another resource and of the same one: the plan names
// the object that the deletion waits for.
func TestPreviewOfHandOver(t *testing.T) {
	t.Parallel()
	p := newProject(t, "-- Tiltfile --\nk8s_yaml('old.yaml')\n"+sleeper("old")+sleeper("new")+sleeper("other", "alpine"))
	p.deploys(0)
	preview := func(tiltfile string, want string) {
		t.Helper()
		p.write("Tiltfile", tiltfile)
		p.says(0, []string{"preview", "--namespace", p.namespace}, want)
	}
	const wait = `no longer declared; it stays until there is a replacement that is ready: `
	preview("k8s_yaml('new.yaml')\n", `delete +deployment/old.*\n +`+wait+`deployment/new\n`)
	preview("k8s_yaml('new.yaml')\nk8s_resource('new', new_name='old')\n", `delete +deployment/old.*\n +`+wait+`deployment/new\n`)
	preview("k8s_yaml('other.yaml')\n", `delete +deployment/old.*\n +no longer declared\n`)
	p.says(0, []string{"down", "--namespace", p.namespace})
}

// sleeper returns the file of a Deployment that does nothing, with the labels of its name.
func sleeper(name string, image ...string) string {
	return fmt.Sprintf("-- %[1]s.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s}\nspec:\n  selector: {matchLabels: {app: %[1]s}}\n"+
		"  template:\n    metadata: {labels: {app: %[1]s}}\n    spec:\n      terminationGracePeriodSeconds: 0\n      containers: [{name: main, image: %[2]s, command: [sleep, '100000']}]\n",
		name, append(image, "busybox")[0])
}
