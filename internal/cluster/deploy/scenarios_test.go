package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// TestScenarios runs the same scenarios on the fake server and on a real one.
func TestScenarios(t *testing.T) {
	clusters := []struct {
		name  string
		start func(testing.TB) cluster
	}{{"fake", fakeCluster}, {"real", realCluster}}
	for _, c := range clusters {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					s.run(t, c.start(t))
				})
			}
		})
	}
}

var scenarios = []struct {
	name string
	run  func(*testing.T, cluster)
}{
	{"unchanged objects are not written", unchangedIsLeftAlone},
	{"force writes unchanged objects without changing them", forceApplies},
	{"force restarts the rollout of an unchanged workload", forceRestarts},
	{"only the workloads that run a container restart", overlaidRestarts},
	{"the plan of force says how each object takes effect again", previewOfForce},
	{"drift is put right", driftIsReverted},
	{"text arrives as it is", textArrives},
	{"the values of Secrets are found", secretsAreFound},
	{"a field that leaves the YAML leaves the object, a foreign one stays", removedFieldGoes},
	{"a missing namespace is a problem", missingNamespaceIsProblem},
	{"an unknown kind is a problem", unknownKindIsProblem},
	{"an immutable field leads to replacement", immutableIsReplaced},
	{"a mistake beside an immutable field leaves the object alone", mistakeLeavesObject},
	{"a failure blocks only what depends on it", failureBlocksDependents},
	{"an object that is being deleted is waited for", terminatingIsAwaited},
	{"only hone's own objects are deleted", foreignIsKept},
	{"a stuck finalizer is named and keeps nothing else", stuckFinalizer},
	{"leftovers are collected", leftoversAreCollected},
	{"a prefetch saves the questions", prefetchSavesGets},
	{"a new object costs one request", newObjectsCostOneRequest},
	{"others create the object at the same moment", othersCreateAtTheSameMoment},
}

const configYAML = `
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {a: "1", b: "2"}
`

// deploymentYAML is a workload without pods that refers to the ConfigMap conf.
func deploymentYAML(name, app, port string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: 0
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      containers:
      - name: main
        image: busybox
        ports: [{containerPort: %s}]
        envFrom: [{configMapRef: {name: conf}}]
        resources: {limits: {cpu: 1000m, memory: 0.5Gi}}
`, name, app, app, port)
}

func unchangedIsLeftAlone(t *testing.T, c cluster) {
	objects := c.inject(t, configYAML+"---"+deploymentYAML("web", "web", "80"))
	first, log := c.mustApply(t, objects)
	if want := "Objects applied to cluster:\n       → conf:configmap\n       → web:deployment\n"; log != want {
		t.Errorf("log %q, want %q", log, want)
	}
	before := []string{c.get(t, objects[0]).GetResourceVersion(), ownWrites(c.get(t, objects[1]))}
	again, log := c.mustApply(t, c.inject(t, configYAML+"---"+deploymentYAML("web", "web", "80")))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("second result differs: %s", diff)
	}
	if !strings.Contains(log, "web:deployment (unchanged)") || !strings.Contains(log, "conf:configmap (unchanged)") {
		t.Errorf("log %q", log)
	}
	after := []string{c.get(t, objects[0]).GetResourceVersion(), ownWrites(c.get(t, objects[1]))}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("something was written: %s", diff)
	}
	if first[1].TemplateHash == "" || first[1].UID == "" || first[0].TemplateHash != "" {
		t.Errorf("applied %+v", first)
	}
}

// ownWrites identifies hone's writes to an object whose status a controller updates: its UID, its generation, and the
// time at which hone's fields were last set.
func ownWrites(u *unstructured.Unstructured) string {
	s := fmt.Sprintf("%s %d", u.GetUID(), u.GetGeneration())
	for _, m := range u.GetManagedFields() {
		if m.Manager == FieldManager {
			s += " " + m.Time.String()
		}
	}
	return s
}

func forceApplies(t *testing.T, c cluster) {
	objects := c.inject(t, configYAML)
	c.mustApply(t, objects)
	before := c.get(t, objects[0]).GetResourceVersion()
	log := &recorder{}
	_, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Again: always, Logger: log})
	if err != nil || strings.Contains(log.String(), "unchanged") {
		t.Errorf("err %v, log %q", err, log)
	}
	if after := c.get(t, objects[0]).GetResourceVersion(); after != before {
		t.Errorf("resourceVersion went from %s to %s", before, after)
	}
}

func (c cluster) merge(t testing.TB, u *unstructured.Unstructured, patch string) {
	t.Helper()
	_, err := c.client(t, u).Patch(t.Context(), u.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
}

func driftIsReverted(t *testing.T, c cluster) {
	objects := c.inject(t, configYAML)
	c.mustApply(t, objects)
	c.merge(t, objects[0], `{"data":{"a":"changed"}}`)
	_, log := c.mustApply(t, objects)
	if strings.Contains(log, "unchanged") {
		t.Errorf("log %q", log)
	}
	if got := text(field(c.get(t, objects[0]).Object, "data"), "a"); got != "1" {
		t.Errorf("data.a = %q", got)
	}
}

// textArrives applies characters that readers of YAML refuse or fold.
func textArrives(t *testing.T, c cluster) {
	want := "a\u007f\u0080\u0085\u009b2J\u2028\ufeff\uffff\\u007f\n \x1b[2J b"
	objects := c.inject(t, strings.Replace(configYAML, `"1"`, fmt.Sprintf("%q", want), 1))
	c.mustApply(t, objects)
	if got := text(field(c.get(t, objects[0]).Object, "data"), "a"); got != want {
		t.Errorf("%q became %q", want, got)
	}
}

func secretsAreFound(t *testing.T, c cluster) {
	objects := c.inject(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata: {password: c3dvcmRmaXNoLTkwMDA=}\n---\n"+configYAML)
	c.mustApply(t, objects)
	records := []ledger.Record{{ObjectID: IDOf(objects[0])}, {ObjectID: IDOf(objects[1])}, {ObjectID: model.ObjectID{Kind: "Secret", Namespace: c.namespace, Name: "gone"}}}
	got, err := NewApplier(c.dyn, c.mapper).Secrets(t.Context(), records, time.Minute)
	want := []model.Secret{{Name: "db", Key: "password", Value: "c3dvcmRmaXNoLTkwMDA="}, {Name: "db", Key: "password", Value: "swordfish-9000"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func removedFieldGoes(t *testing.T, c cluster) {
	objects := c.inject(t, configYAML)
	c.mustApply(t, objects)
	c.merge(t, objects[0], `{"data":{"byHand":"x"},"metadata":{"annotations":{"foreign":"1"}}}`)
	c.mustApply(t, c.inject(t, strings.Replace(configYAML, `, b: "2"`, "", 1)))
	live := c.get(t, objects[0])
	if diff := cmp.Diff(map[string]any{"a": "1", "byHand": "x"}, live.Object["data"]); diff != "" {
		t.Error(diff)
	}
	if annotation(live, "foreign") != "1" {
		t.Error("the foreign annotation is gone")
	}
}

func missingNamespaceIsProblem(t *testing.T, c cluster) {
	objects := c.inject(t, strings.Replace(configYAML, "name: conf", "name: conf, namespace: hone-no-such", 1))
	_, _, err := c.apply(t, objects)
	p, ok := problem.Of(err)
	if !ok || !strings.Contains(p.Summary, `namespace "hone-no-such" does not exist`) || !strings.Contains(p.Mend, "kubectl create namespace hone-no-such") {
		t.Errorf("got %v", err)
	}
}

func unknownKindIsProblem(t *testing.T, c cluster) {
	done, _, err := c.apply(t, c.inject(t, configYAML+"---\napiVersion: nowhere.dev/v1\nkind: Foo\nmetadata: {name: x}\n"))
	p, ok := problem.Of(err)
	if !ok || !strings.Contains(p.Summary, `no kind "Foo" in nowhere.dev/v1`) {
		t.Errorf("got %v", err)
	}
	if len(done) != 1 || done[0].Name != "conf" {
		t.Errorf("applied %v", done)
	}
}

func immutableIsReplaced(t *testing.T, c cluster) {
	old := c.inject(t, deploymentYAML("web", "web", "80"))
	first, _ := c.mustApply(t, old)
	second, log := c.mustApply(t, c.inject(t, deploymentYAML("web", "other", "80")))
	if first[0].UID == second[0].UID {
		t.Error("the object was not replaced")
	}
	if !strings.Contains(log, "deployment/web: spec.selector cannot be changed in place: deleting and creating it again") {
		t.Errorf("log %q", log)
	}
	if live := c.get(t, old[0]); string(live.GetUID()) != second[0].UID {
		t.Errorf("live UID %s, reported %s", live.GetUID(), second[0].UID)
	}
}

func mistakeLeavesObject(t *testing.T, c cluster) {
	objects := c.inject(t, deploymentYAML("web", "web", "80"))
	c.mustApply(t, objects)
	before := c.get(t, objects[0])
	_, _, err := c.apply(t, c.inject(t, deploymentYAML("web", "other", "-1")))
	if err == nil || !strings.Contains(err.Error(), "must be between 1 and 65535") {
		t.Errorf("got %v", err)
	}
	after := c.get(t, objects[0])
	if ownWrites(before) != ownWrites(after) {
		t.Error("the object was touched")
	}
}

func failureBlocksDependents(t *testing.T, c cluster) {
	broken := strings.Replace(configYAML, "{a:", `{"not a key":`, 1)
	service := "\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
	objects := c.inject(t, broken+"---"+deploymentYAML("web", "web", "80")+"---"+service)
	done, _, err := c.apply(t, objects)
	if len(done) != 1 || done[0].Kind != "Service" {
		t.Errorf("applied %v", done)
	}
	if err == nil || !strings.Contains(err.Error(), "apply configmap/conf: ") ||
		!strings.HasSuffix(err.Error(), "apply deployment/web: blocked by configmap/conf") {
		t.Errorf("got %v", err)
	}
	if c.get(t, objects[1]) != nil {
		t.Error("the dependent was created")
	}
	_, log := c.mustApply(t, c.inject(t, configYAML+"---"+deploymentYAML("web", "web", "80")+"---"+service))
	if !strings.Contains(log, "web:service (unchanged)") || strings.Contains(log, "web:deployment (unchanged)") {
		t.Errorf("log %q", log)
	}
}

func (c cluster) withFinalizer(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	objects := c.inject(t, text)
	c.mustApply(t, objects)
	c.merge(t, objects[0], `{"metadata":{"finalizers":["hone.dev/test"]}}`)
	t.Cleanup(func() {
		_, _ = c.client(t, objects[0]).Patch(context.Background(), objects[0].GetName(), types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	return objects
}

func terminatingIsAwaited(t *testing.T, c cluster) {
	objects := c.withFinalizer(t, configYAML)
	old := c.get(t, objects[0])
	if err := c.client(t, old).Delete(t.Context(), old.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan struct{})
	go func() {
		<-waiting
		_, _ = c.client(t, old).Patch(t.Context(), old.GetName(), types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	}()
	log := &signalRecorder{on: "is being deleted", c: waiting}
	done, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	if done[0].UID == string(old.GetUID()) {
		t.Error("the old object is reported")
	}
}

func foreignIsKept(t *testing.T, c cluster) {
	conf := func(name, extra string) string {
		return fmt.Sprintf("\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%s}\n", name, extra)
	}
	mine := c.inject(t, conf("mine", "")+"---"+conf("replaced", "")+"---"+conf("policy", `, annotations: {tilt.dev/down-policy: keep}`))
	c.mustApply(t, mine)
	c.mustApply(t, c.injectAs(t, "web", "project2", conf("theirs", "")))
	hand := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "hand", "namespace": c.namespace}}}
	if _, err := c.client(t, hand).Create(t.Context(), hand, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ref := func(name, uid string) ObjectRef {
		return ObjectRef{ObjectID: model.ObjectID{Kind: "ConfigMap", Namespace: c.namespace, Name: name}, UID: uid}
	}
	log, got := &recorder{}, map[string]DeleteOutcome{}
	err := NewApplier(c.dyn, c.mapper).Delete(t.Context(), DeleteRequest{Project: "project1", Wait: true, Logger: log,
		Objects: []ObjectRef{ref("mine", ""), ref("replaced", "another-uid"), ref("policy", ""), ref("theirs", ""), ref("hand", ""), ref("none", "")},
		Done:    func(r ObjectRef, o DeleteOutcome) { got[r.Name] = o }})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]DeleteOutcome{"mine": OutcomeDeleted, "replaced": OutcomeForeign, "policy": OutcomeKept,
		"theirs": OutcomeForeign, "hand": OutcomeForeign, "none": OutcomeAbsent}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{"configmap/hand: not made by hone, kept", "configmap/theirs: belongs to another project (project2), kept",
		"configmap/replaced: replaced outside of hone, kept", "configmap/policy: tilt.dev/down-policy: keep, kept", "→ deleted mine:configmap"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("log lacks %q: %s", line, log)
		}
	}
	for name, exists := range map[string]bool{"mine": false, "replaced": true, "policy": true, "theirs": true, "hand": true} {
		hand.SetName(name)
		if (c.get(t, hand) != nil) != exists {
			t.Errorf("%s: exists is not %v", name, exists)
		}
	}
}

func stuckFinalizer(t *testing.T, c cluster) {
	objects := c.withFinalizer(t, configYAML+"---"+deploymentYAML("web", "web", "80"))
	log := &recorder{}
	err := NewApplier(c.dyn, c.mapper).Delete(t.Context(), DeleteRequest{Project: "project1", Wait: true,
		WaitLimit: 5 * time.Second, Logger: log, Objects: refsOf(objects)})
	p, ok := problem.Of(err)
	if !ok || !strings.Contains(p.Summary, "configmap/conf is still there after 5s: finalizers [hone.dev/test]") {
		t.Errorf("got %v", err)
	}
	if c.get(t, objects[1]) != nil {
		t.Error("the other object was not deleted")
	}
}

func refsOf(objects []*unstructured.Unstructured) []ObjectRef {
	refs := make([]ObjectRef, len(objects))
	for i, u := range objects {
		refs[i] = ObjectRef{ObjectID: IDOf(u)}
	}
	return refs
}

func leftoversAreCollected(t *testing.T, c cluster) {
	memory, err := openMemory(t.TempDir(), ledger.Key{Cluster: "c", Project: "project1"})
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(configYAML, "conf", "moved", 1)
	all := c.inject(t, configYAML+"---"+moved+"---"+deploymentYAML("web", "web", "80"))
	if err := memory.Record("web", RecordsFor(all)); err != nil {
		t.Fatal(err)
	}
	a := NewApplier(c.dyn, c.mapper)
	done, _ := c.mustApply(t, all)
	log := &recorder{}
	asked := 0
	req := CollectRequest{Memory: memory, Resource: "web", Applied: done, Project: "project1", Logger: log, Keep: func() string { asked++; return "" }}
	if err := a.Collect(t.Context(), req); err != nil || log.String() != "" || asked > 0 {
		t.Fatalf("nothing to collect: %v %s; asked %d times", err, log, asked)
	}
	if err := memory.Record("other", RecordsFor(all[1:2])); err != nil {
		t.Fatal(err)
	}
	done, _ = c.mustApply(t, all[2:])
	req.Applied = done
	if err := a.Collect(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if c.get(t, all[0]) != nil || c.get(t, all[1]) == nil || c.get(t, all[2]) == nil {
		t.Error("collected the wrong objects")
	}
	if want := "Collecting what web no longer declares:\n       → deleted conf:configmap\n"; log.String() != want {
		t.Errorf("log %q", log)
	}
	records, err := memory.Resources()
	if err != nil || len(records["web"]) != 1 || records["web"][0].UID != done[0].UID || len(records["other"]) != 1 {
		t.Errorf("ledger %+v, %v", records, err)
	}
}

// inLedger returns what Prefetch asks of a ledger that has all objects, or none.
func inLedger(all bool) func(model.ObjectID) bool { return func(model.ObjectID) bool { return all } }

// newObjectsCostOneRequest has an object of others among the names.
func newObjectsCostOneRequest(t *testing.T, c cluster) {
	c.create(t, strings.Replace(configYAML, "conf", "theirs", 1), nil, "other")
	objects := c.inject(t, configYAML+"---"+strings.Replace(configYAML, "conf", "conf2", 1))
	a := c.asSession()
	var reads k8s.Requests
	if err := a.Prefetch(k8s.CountRequests(t.Context(), &reads), objects, inLedger(false)); err != nil {
		t.Fatal(err)
	}
	if got := reads.String(); got != "2 requests: list 2" {
		t.Errorf("the reads before: %s", got)
	}
	var counted k8s.Requests
	done, err := a.Apply(k8s.CountRequests(t.Context(), &counted), ApplyRequest{Resource: "web", Objects: objects})
	if err != nil || len(done) != 2 || c.get(t, objects[0]) == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := counted.String(); got != "2 requests: apply 2" {
		t.Error(got)
	}
}

func othersCreateAtTheSameMoment(t *testing.T, c cluster) {
	same, differs := configYAML, strings.Replace(configYAML, "conf", "conf2", 1)
	objects := c.inject(t, same+"---"+differs)
	a := c.asSession()
	if err := a.Prefetch(t.Context(), objects, inLedger(false)); err != nil {
		t.Fatal(err)
	}
	c.create(t, same, nil, "other")
	c.create(t, strings.Replace(differs, `a: "1"`, `a: "3"`, 1), nil, "other")
	before := []*unstructured.Unstructured{c.get(t, objects[0]), c.get(t, objects[1])}
	done, err := a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects})
	if err == nil || len(done) != 0 || strings.Count(err.Error(), "exists already") < 2 {
		t.Errorf("%+v, %v", done, err)
	}
	for i, was := range before {
		is := c.get(t, objects[i])
		for _, u := range []*unstructured.Unstructured{was, is} {
			u.SetManagedFields(nil)
			u.SetResourceVersion("")
		}
		if diff := cmp.Diff(was.Object, is.Object); diff != "" {
			t.Errorf("%s was changed (-was +is):\n%s", is.GetName(), diff)
		}
	}
}

func prefetchSavesGets(t *testing.T, c cluster) {
	objects := c.inject(t, configYAML+"---"+strings.Replace(configYAML, "conf", "conf2", 1))
	c.mustApply(t, objects)
	a := c.asSession()
	var reads k8s.Requests
	if err := a.Prefetch(k8s.CountRequests(t.Context(), &reads), objects, inLedger(true)); err != nil {
		t.Fatal(err)
	}
	if got := reads.String(); got != "1 request: list 1" {
		t.Errorf("the reads before: %s", got)
	}
	if len(a.cache.entries) != 2 {
		t.Errorf("%d entries", len(a.cache.entries))
	}
	log, counted := &recorder{}, &k8s.Requests{}
	if _, err := a.Apply(k8s.CountRequests(t.Context(), counted), ApplyRequest{Resource: "web", Objects: objects, Logger: log}); err != nil {
		t.Fatal(err)
	}
	if strings.Count(log.String(), "(unchanged)") != 2 || len(a.cache.entries) != 0 {
		t.Errorf("log %q, %d entries left", log, len(a.cache.entries))
	}
	if got := counted.String(); got != "no requests" {
		t.Errorf("it asked all the same: %s", got)
	}
}
