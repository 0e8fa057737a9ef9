package deploy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// annotated adds an annotation to the first object of a YAML text.
func annotated(yaml, key, value string) string {
	name, rest, _ := strings.Cut(strings.SplitAfterN(yaml, "metadata: {name: ", 2)[1], "}")
	return strings.SplitAfterN(yaml, "metadata: {name: ", 2)[0] + fmt.Sprintf("%s, annotations: {%s: '%s'}}", name, key, value) + rest
}

// TestRealIgnoredFields scales a Deployment whose replicas are ignored, by kubectl's scale subresource, by a HorizontalPodAutoscaler's
// name, and by hand: no drift is shown, and a change of another field leaves them as they are (K8). A field that is not ignored is
// restored.
func TestRealIgnoredFields(t *testing.T) {
	t.Parallel()
	declared := annotated(deploymentYAML("web", "web", "80"), model.AnnotationIgnore, "/spec/replicas /spec/template/spec/containers/main/resources")
	for _, tc := range []struct {
		name string
		by   func(t *testing.T, c cluster, web *unstructured.Unstructured)
		want int64
	}{
		{"scaled", func(t *testing.T, c cluster, web *unstructured.Unstructured) {
			scaled(t, c, web, "kubectl", 3)
		}, 3},
		{"scaled by an autoscaler", func(t *testing.T, c cluster, web *unstructured.Unstructured) {
			scaled(t, c, web, "kube-controller-manager", 2)
		}, 2},
		{"changed by hand", func(t *testing.T, c cluster, web *unstructured.Unstructured) {
			c.merge(t, web, `{"spec":{"replicas":4}}`)
		}, 4},
		{"nothing was changed", func(*testing.T, cluster, *unstructured.Unstructured) {}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			memory := openLedger(t, t.TempDir())
			objects := c.inject(t, declared)
			done := c.applyRemembered(t, memory, objects)
			tc.by(t, c, objects[0])
			steps := func(objects []*unstructured.Unstructured, drift bool) string {
				t.Helper()
				steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace, Drift: drift, Prior: memory.Remembered,
					Declared: []Declared{{Resource: "web", Objects: objects}}, Records: map[model.ManifestName][]ledger.Record{"web": ledger.Of(done)}})
				if err != nil {
					t.Fatal(err)
				}
				return stepsText(steps)
			}
			for _, drift := range []bool{false, true} {
				if got := steps(objects, drift); got != "unchanged deployment/web" {
					t.Errorf("drift %v:\n%s", drift, got)
				}
			}
			version := c.get(t, objects[0]).GetGeneration()
			c.applyRemembered(t, memory, objects)
			if now := c.get(t, objects[0]).GetGeneration(); now != version {
				t.Error("it was written")
			}
			changed := c.inject(t, strings.Replace(declared, "containerPort: 80", "containerPort: 81", 1))
			if got := steps(changed, false); strings.Contains(got, "replicas") || !strings.Contains(got, "containerPort: <nil> > 81") {
				t.Errorf("changed:\n%s", got)
			}
			c.applyRemembered(t, memory, changed)
			c.applyRemembered(t, memory, c.inject(t, declared)) // who owns the field now does not matter
			live := c.get(t, objects[0])
			if n, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas"); n != tc.want {
				t.Errorf("%d replicas, want %d", n, tc.want)
			}
			main := itemsOf(field(live.Object, "spec", "template", "spec"), "containers")[0]
			if got := text(field(main, "resources", "limits"), "memory"); got != "512Mi" {
				t.Errorf("memory %q", got)
			}
		})
	}
}

// scaled changes the replicas through the subresource, as kubectl scale and an autoscaler do.
func scaled(t *testing.T, c cluster, web *unstructured.Unstructured, manager string, replicas int) {
	t.Helper()
	_, err := c.client(t, web).Patch(t.Context(), web.GetName(), types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas),
		metav1.PatchOptions{FieldManager: manager}, "scale")
	if err != nil {
		t.Fatal(err)
	}
}

// TestRealReadOnly declares an object read-only: it must exist, is not written, and is not deleted (V14).
func TestRealReadOnly(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	a := NewApplier(c.dyn, c.mapper)
	objects := c.inject(t, annotated(configYAML, model.AnnotationReadOnly, "true"))
	_, log, err := c.apply(t, objects)
	if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, "configmap/conf does not exist, and hone may not create it") {
		t.Errorf("%v\n%s", err, log)
	}
	preview := func() string {
		t.Helper()
		steps, err := a.Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace, Declared: []Declared{{Resource: "web", Objects: objects}}})
		if err != nil {
			t.Fatal(err)
		}
		return stepsText(steps)
	}
	if got := preview(); !strings.HasPrefix(got, "blocked configmap/conf: configmap/conf does not exist") {
		t.Error(got)
	}
	theirs := c.create(t, strings.Replace(configYAML, `"1"`, `"theirs"`, 1), nil, "kubectl-create")
	done, _ := c.mustApply(t, objects)
	if got := preview(); got != "unchanged configmap/conf: declared read-only" {
		t.Error(got)
	}
	memory := openLedger(t, t.TempDir())
	if err := memory.Record("web", RecordsFor(objects)); err != nil {
		t.Fatal(err)
	}
	if err := a.Collect(t.Context(), CollectRequest{Memory: memory, Resource: "web", Applied: done, Project: "project1"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Collect(t.Context(), CollectRequest{Memory: memory, Resource: "web", Project: "project1"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), DeleteRequest{Objects: []ObjectRef{{ObjectID: IDOf(objects[0])}}, Project: "project1", Removal: RemovalDown}); err != nil {
		t.Fatal(err)
	}
	if now := c.get(t, objects[0]); now == nil || now.GetResourceVersion() != theirs.GetResourceVersion() {
		t.Errorf("it was touched: %v", now)
	}
}

// TestRealAppliedOnce changes and deletes an object that is applied only once: it stays changed, and deleted (V19).
func TestRealAppliedOnce(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	a := NewApplier(c.dyn, c.mapper)
	objects := c.inject(t, annotated(configYAML, model.AnnotationApply, model.ApplyOnce))
	records := map[model.ManifestName][]ledger.Record{}
	apply := func(objects []*unstructured.Unstructured) (int, string) {
		t.Helper()
		log := &recorder{}
		done, err := a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Logger: log,
			Before: func(model.ObjectID) string {
				for _, r := range records["web"] {
					return r.UID
				}
				return ""
			}})
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			records["web"] = ledger.Of(done)
		}
		return len(done), log.String()
	}
	preview := func() string {
		t.Helper()
		steps, err := a.Preview(t.Context(), PreviewRequest{Project: "project1", Namespace: c.namespace, Records: records,
			Declared: []Declared{{Resource: "web", Objects: objects}}})
		if err != nil {
			t.Fatal(err)
		}
		return stepsText(steps)
	}
	if n, log := apply(objects); n != 1 || c.get(t, objects[0]) == nil {
		t.Fatalf("it was not created\n%s", log)
	}
	c.merge(t, objects[0], `{"data":{"a":"by hand"}}`)
	apply(c.inject(t, strings.Replace(annotated(configYAML, model.AnnotationApply, model.ApplyOnce), `"1"`, `"9"`, 1)))
	if got := text(field(c.get(t, objects[0]).Object, "data"), "a"); got != "by hand" {
		t.Errorf("a is %q", got)
	}
	if got := preview(); got != "unchanged configmap/conf: applied only once" {
		t.Error(got)
	}
	if err := c.client(t, objects[0]).Delete(t.Context(), "conf", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n, log := apply(objects)
	if n != 0 || c.get(t, objects[0]) != nil || !strings.Contains(log, "configmap/conf was deleted since it was applied, and is applied only once: not created again") {
		t.Errorf("%d, %s", n, log)
	}
	if got := preview(); got != "unchanged configmap/conf: deleted since it was applied, and applied only once" {
		t.Error(got)
	}
}

// TestRealOnRemove removes an object for each reason, under each policy (V15). The last apply sets the policy.
func TestRealOnRemove(t *testing.T) {
	t.Parallel()
	const (
		deleted = "deleted"
		kept    = "kept"
		orphan  = "orphan"
	)
	for _, tc := range []struct {
		policy string
		want   map[Removal]string
		step   api.PlanAction
	}{
		{"", map[Removal]string{RemovalBySession: deleted, RemovalAsked: deleted, RemovalDown: deleted}, api.ActionDelete},
		{model.OnRemoveDelete, map[Removal]string{RemovalBySession: deleted, RemovalAsked: deleted, RemovalDown: deleted}, api.ActionDelete},
		{model.OnRemoveDown, map[Removal]string{RemovalBySession: kept, RemovalAsked: kept, RemovalDown: deleted}, api.ActionKeep},
		{model.OnRemoveConfirm, map[Removal]string{RemovalBySession: kept, RemovalAsked: deleted, RemovalDown: deleted}, api.ActionKeep},
		{model.OnRemoveOrphan, map[Removal]string{RemovalBySession: orphan, RemovalAsked: orphan, RemovalDown: orphan}, api.ActionOrphan},
	} {
		t.Run("policy "+tc.policy, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			a := NewApplier(c.dyn, c.mapper)
			for removal, want := range tc.want {
				c.mustApply(t, c.inject(t, annotated(configYAML, model.AnnotationOnRemove, model.OnRemoveDelete))) // another policy before
				declared := configYAML
				if tc.policy != "" {
					declared = annotated(configYAML, model.AnnotationOnRemove, tc.policy)
				}
				objects := c.inject(t, declared)
				done, _ := c.mustApply(t, objects)
				if removal == RemovalBySession {
					steps, err := a.Preview(t.Context(), PreviewRequest{Project: "project1", Records: map[model.ManifestName][]ledger.Record{"web": ledger.Of(done)}})
					if err != nil || len(steps) != 1 || steps[0].Action != tc.step {
						t.Errorf("preview: %s %v", stepsText(steps), err)
					}
				}
				var outcome DeleteOutcome
				err := a.Delete(t.Context(), DeleteRequest{Objects: []ObjectRef{{ObjectID: IDOf(objects[0]), UID: done[0].UID}}, Project: "project1", Removal: removal,
					Wait: true, WaitLimit: time.Minute, Done: func(_ ObjectRef, o DeleteOutcome) { outcome = o }})
				if err != nil {
					t.Fatal(err)
				}
				live := c.get(t, objects[0])
				got := deleted
				switch {
				case live != nil && label(live, LabelProject) == "" && label(live, LabelManagedBy) == "" && annotation(live, AnnotationAppliedHash) == "" && outcome == OutcomeGivenBack:
					got = orphan
				case live != nil && label(live, LabelProject) != "" && outcome == OutcomeKept:
					got = kept
				case live != nil || outcome != OutcomeDeleted:
					t.Errorf("removal %d: %s, %v", removal, outcome, live)
				}
				if got != want {
					t.Errorf("removal %d: %s, want %s", removal, got, want)
				}
				if err := c.client(t, objects[0]).Delete(t.Context(), "conf", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestPolicyOfUnknownValue: a value that an annotation cannot have is an error that names the object.
func TestPolicyOfUnknownValue(t *testing.T) {
	for key, value := range map[string]string{model.AnnotationOnRemove: "forget", model.AnnotationIgnore: "spec.replicas", model.AnnotationApply: "twice"} {
		_, err := Inject(InjectRequest{Resource: "web", Project: "p", Target: model.K8sTarget{Objects: objectsOf(t, annotated(configYAML, key, value))}}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("configmap/conf: %s: %q is not ", key, value)) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
