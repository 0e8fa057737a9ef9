package buildanddeploy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/cluster/ledger/ledgertest"
	"github.com/hone-dev/hone/pkg/model"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// newTestCluster is a Cluster whose API server is in memory and holds ConfigMaps of the given names; those that begin with
// "ours" carry the project's labels.
func newTestCluster(t *testing.T, names ...string) *Cluster {
	t.Helper()
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{gvk.GroupVersion()})
	mapper.Add(gvk, meta.RESTScopeNamespace)
	dyn := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{configMaps: "ConfigMapList"})
	c := &Cluster{dyn: dyn, mapper: mapper, applier: deploy.NewApplier(dyn, mapper), project: "p", env: []string{"WHERE=here"}}
	c.memory = &deploy.Memory{Ledger: ledgertest.Open(t, t.TempDir(), ledger.Key{Cluster: "c", Project: "p"})}
	for _, n := range names {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetGroupVersionKind(gvk)
		u.SetName(n)
		u.SetNamespace("dev")
		u.SetUID("uid-x")
		if strings.HasPrefix(n, "ours") {
			u.SetLabels(map[string]string{deploy.LabelManagedBy: deploy.ManagedByHone, deploy.LabelProject: "p"})
		}
		if _, err := dyn.Resource(configMaps).Namespace("dev").Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *Cluster) names(t *testing.T) string {
	t.Helper()
	list, err := c.dyn.Resource(configMaps).Namespace("dev").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, u := range list.Items {
		out = append(out, u.GetName())
	}
	return strings.Join(out, " ")
}

func shell(script string) model.Cmd {
	return model.Cmd{Argv: []string{"sh", "-c", script}, EchoOff: true}
}

func custom(name, apply, del string) model.Manifest {
	return model.Manifest{Name: model.ManifestName(name), AutoInit: true, K8s: &model.K8sTarget{CustomDeploy: &model.CustomDeploy{
		Apply: shell(apply), Delete: shell(del)}}}
}

const printsApp = `echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: app}}'`

func TestCustomDeploy(t *testing.T) {
	c := newTestCluster(t, "app")
	dir := t.TempDir()
	d := &diary{}
	m := custom("app", `echo "image $TILT_IMAGE_0 for $TILT_IMAGE_MAP_0 in $WHERE $OWN" >&2; `+printsApp, `echo "deleting in $WHERE" > gone`)
	m.K8s.CustomDeploy.Delete.Dir = dir
	m.K8s.CustomDeploy.ImageDeps = []string{"api"}
	m.K8s.CustomDeploy.Apply.Env = []string{"OWN=mine"}
	req := d.request(m)
	req.Namespace, req.Env = "dev", []string{"WHERE=here", "KUBECONFIG=/tmp/overlay"}
	applied, err := c.Deploy(t.Context(), req, map[string]model.ImageResult{"api": {Local: "api:l", Cluster: "reg/api:c"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.AppliedObject{{ObjectID: model.ObjectID{Kind: "ConfigMap", Namespace: "dev", Name: "app"}, APIVersion: "v1", UID: "uid-x", Foreign: true}}
	if diff := cmp.Diff(want, applied); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	if !strings.Contains(d.text(), "image reg/api:c for api in here mine") || !strings.Contains(d.text(), "→ app:configmap") {
		t.Errorf("log:\n%s", d.text())
	}
	records, err := c.memory.Resources()
	if err != nil {
		t.Fatal(err)
	}
	commands, err := c.memory.Commands()
	if err != nil {
		t.Fatal(err)
	}
	if len(records["app"]) != 1 || !records["app"][0].Foreign || !cmp.Equal(commands["app"].Env, []string{"KUBECONFIG=/tmp/overlay"}) {
		t.Errorf("the ledger has %v and %v", records, commands)
	}
	if _, err := c.Remove(t.Context(), RemoveRequest{Resource: "app", Log: logstore.Discard}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "gone")); err != nil || string(text) != "deleting in here\n" {
		t.Errorf("delete command: %q, %v", text, err)
	}
	if records, _ = c.memory.Resources(); len(records) != 0 {
		t.Errorf("the ledger still has %v", records)
	}
	if got := c.names(t); got != "app" {
		t.Errorf("the cluster has %q: hone deletes nothing that it did not create", got)
	}
}

func TestCustomDeployProblems(t *testing.T) {
	for _, tc := range []struct{ name, apply, want, mend string }{
		{"fails", "echo so far; exit 3", `apply command "echo so far; exit 3" failed: exit code 3`, "see its output above"},
		{"prints nothing", "true", `apply command "true": it printed no object`, "kubectl apply -o yaml"},
		{"prints only comments", "echo '# done'", "it printed no object", "standard error"},
		{"prints text", "echo 'deployment.apps/app configured'", "it printed something that is not a Kubernetes object", "kubectl apply -o yaml"},
		{"prints broken YAML", `printf 'a: [1\nb: 2\n'`, "it printed invalid YAML", "kubectl apply -o yaml"},
		{"prints a half object", "echo '{apiVersion: v1, kind: ConfigMap}'", "it printed an object without metadata.name", ""},
		{"prints a half list", "echo '{apiVersion: v1, kind: List, items: [{kind: X}]}'", "item 1 of the List that it printed is not a complete object", ""},
		{"prints a missing object", "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}'",
			"look for configmap/x: the cluster has no configmap/x in namespace dev", "to this cluster and namespace"},
		{"is not there", "", `cannot run "no-such-program"`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newTestCluster(t, "app")
			m := custom("app", tc.apply, "true")
			if tc.apply == "" {
				m.K8s.CustomDeploy.Apply.Argv = []string{"no-such-program"}
			}
			req := (&diary{}).request(m)
			req.Namespace = "dev"
			_, err := c.Deploy(t.Context(), req, nil)
			p, ok := problem.Of(err)
			if !ok || !strings.Contains(err.Error(), tc.want) || !strings.Contains(p.Mend, tc.mend) {
				t.Errorf("got %v (%+v), want %q with mend %q", err, p, tc.want, tc.mend)
			}
			if commands, _ := c.memory.Commands(); len(commands) != 1 {
				t.Error("the delete command is not recorded, though the apply command has run")
			}
		})
	}
}

func TestCustomDeployTakesTooLong(t *testing.T) {
	c := newTestCluster(t)
	req := (&diary{}).request(custom("app", "exec sleep 3600", "true"))
	req.UpsertTimeout = time.Millisecond
	_, err := c.Deploy(t.Context(), req, nil)
	if p, ok := problem.Of(err); !ok || !strings.Contains(err.Error(), "did not end within 1ms") || !strings.Contains(p.Mend, "k8s_upsert_timeout_secs=2") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Deploy(ctx, req, nil); err == nil || ctx.Err() == nil {
		t.Errorf("cancelled: %v", err)
	}
}

func TestPrintedObjects(t *testing.T) {
	objects, err := printedObjects([]byte("---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n" +
		"---\n# nothing\n---\n{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"b\", \"namespace\": \"x\"}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range objects {
		got = append(got, deploy.IDOf(u).String())
	}
	if diff := cmp.Diff([]string{"configmap/a", "deployment/x/b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", 300)
	if got := excerpt([]byte("\n1\n2\n3\n4\n" + long + "\n6\n")); got != "1\n2\n3\n4\n"+long[:200]+"…\n…" {
		t.Errorf("got %q", got)
	}
}

// A resource that hone deployed and a command now deploys loses the objects that the command does not name, and vice
// versa.
func TestCustomDeployTakesOver(t *testing.T) {
	c := newTestCluster(t, "app", "ours-old")
	old := model.ObjectID{Kind: "ConfigMap", Namespace: "dev", Name: "ours-old"}
	if err := c.memory.Set("app", []model.AppliedObject{{ObjectID: old, APIVersion: "v1", UID: "uid-x"}}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := custom("app", printsApp, "echo deleted > "+filepath.Join(dir, "gone"))
	req := (&diary{}).request(m)
	req.Namespace = "dev"
	if _, err := c.Deploy(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if got := c.names(t); got != "app" {
		t.Errorf("the cluster has %q", got)
	}
	req.Manifest = model.Manifest{Name: "app", K8s: &model.K8sTarget{}}
	if _, err := c.Deploy(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone")); err != nil {
		t.Errorf("what the command deployed was left behind: %v", err)
	}
	if records, _ := c.memory.Resources(); len(records) != 0 {
		t.Errorf("the ledger still has %v", records)
	}
}

func TestForceRunsTheDeleteCommandFirst(t *testing.T) {
	c := newTestCluster(t, "app")
	d := &diary{}
	req := d.request(custom("app", "echo applying >&2; "+printsApp, "echo deleting"))
	req.Namespace, req.Force = "dev", true
	for range 2 {
		if _, err := c.Deploy(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	text := d.text()
	if strings.Count(text, "deleting") != 1 || strings.Index(text, "deleting") < strings.Index(text, "applying") {
		t.Errorf("log:\n%s", text)
	}
}

// TestTakeDown deletes the dependents of a custom deploy before it, and the rest after it.
func TestTakeDown(t *testing.T) {
	c := newTestCluster(t, "ours-base", "ours-resource")
	log := filepath.Join(t.TempDir(), "log")
	for name, script := range map[model.ManifestName]string{"operator": "echo operator >> " + log, "addon": "echo addon >> " + log, "broken": "exit 1",
		"other": "echo other >> " + log} {
		if err := c.memory.RecordCommand(name, shell(script)); err != nil {
			t.Fatal(err)
		}
	}
	records := map[model.ManifestName][]ledger.Record{"operator": nil, "addon": nil, "broken": nil}
	for _, name := range []string{"base", "resource"} {
		id := model.ObjectID{Kind: "ConfigMap", Namespace: "dev", Name: "ours-" + name}
		r := ledger.Record{ObjectID: id, APIVersion: "v1", UID: "uid-x"}
		records[model.ManifestName(name)] = []ledger.Record{r}
		if err := c.memory.Record(model.ManifestName(name), []ledger.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	deps := map[model.ManifestName][]model.ManifestName{"operator": {"base"}, "resource": {"link"}, "link": {"operator"}, "addon": {"operator"}}
	d := &diary{}
	err := c.TakeDown(t.Context(), DeleteOptions{Wait: true}, records, deps, nil, d.request(model.Manifest{}).Log)
	if err == nil || !strings.Contains(err.Error(), `take down broken: delete command "exit 1" failed: exit code 1`) {
		t.Errorf("got %v, want the failure of one delete command", err)
	}
	if text, _ := os.ReadFile(log); string(text) != "addon\noperator\n" {
		t.Errorf("delete commands ran in the order %q", text)
	}
	text := d.text()
	if strings.Index(text, "ours-resource") > strings.Index(text, "ours-base") || !strings.Contains(text, "deleted ours-base") {
		t.Errorf("log:\n%s", text)
	}
	left, err := c.memory.Resources()
	if err != nil || len(left) != 2 {
		t.Errorf("left in the ledger: %v, %v; want broken and other", left, err)
	}
}
