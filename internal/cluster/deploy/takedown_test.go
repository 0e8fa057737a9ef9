package deploy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/cluster/deploy/deploytest"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// takedown is a set of resources on the fake. Each has objects with its name, or a step.
type takedown struct {
	c   cluster
	req DeleteRequest
	log *recorder

	mu    sync.Mutex
	order []string // guarded by mu; steps that ran and objects whose deletion was accepted
}

// newTakedown deploys the YAML of each resource, in the order of the arguments: name, YAML, name, YAML …
func newTakedown(t *testing.T, deps map[model.ManifestName][]model.ManifestName, resources ...string) *takedown {
	t.Helper()
	d := &takedown{c: fakeCluster(t), log: &recorder{}}
	d.req = DeleteRequest{Wait: true, WaitLimit: time.Minute, Deps: deps, Logger: d.log,
		Accepted: func(id model.ObjectID) { d.note(title(id)) }}
	for i := 0; i < len(resources); i += 2 {
		objects := d.c.injectAs(t, model.ManifestName(resources[i]), "project1", resources[i+1])
		d.c.mustApply(t, objects)
		for _, u := range objects {
			d.req.Objects = append(d.req.Objects, ObjectRef{ObjectID: IDOf(u), Resource: model.ManifestName(resources[i])})
		}
	}
	return d
}

func (d *takedown) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = append(d.order, what)
}

// step adds a step that takes some time, and then ends with err.
func (d *takedown) step(resource model.ManifestName, takes time.Duration, err error, objects ...model.ObjectID) {
	r := stepRuntime(func(ctx context.Context) error {
		d.note("step " + string(resource))
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return ctx.Err()
		}
		return err
	})
	d.req.Steps = append(d.req.Steps, DeleteStep{Node: operation.Node{Name: "the step of " + string(resource), Resource: resource, Runtime: &r}, Objects: objects})
}

// stepRuntime is the operation.Runtime of one item, which can only be deleted.
type stepRuntime func(ctx context.Context) error

func (r *stepRuntime) Delete(ctx context.Context, _ int) error { return (*r)(ctx) }

func (*stepRuntime) Plan(context.Context, int) (*api.PlanStep, error) {
	return nil, errors.ErrUnsupported
}
func (*stepRuntime) Record(context.Context, []int) error               { return errors.ErrUnsupported }
func (*stepRuntime) Apply(context.Context, int) error                  { return errors.ErrUnsupported }
func (*stepRuntime) Await(context.Context, int, operation.State) error { return errors.ErrUnsupported }

// hold puts a finalizer on an object of the fake.
func (d *takedown) hold(kind, name string) { d.finalizers(kind, name, "hone.dev/test") }

func (d *takedown) finalizers(kind, name string, list ...string) {
	d.c.dyn.(*deploytest.Server).SetFinalizers(kind, name, list...)
}

// pod adds a pod, which is gone after some time.
func (d *takedown) pod(name, owner string, labels map[string]string, gone time.Duration) {
	d.podOf("ReplicaSet", name, owner, labels, gone)
}

func withLabel(labels map[string]string, name, value string) map[string]string {
	labels = maps.Clone(labels)
	labels[name] = value
	return labels
}

func (d *takedown) podOf(kind, name, owner string, labels map[string]string, gone time.Duration) {
	s := d.c.dyn.(*deploytest.Server)
	p := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"nodeName": "n1"}}}
	p.SetName(name)
	p.SetNamespace("ns1")
	p.SetLabels(withLabel(labels, LabelManagedBy, ManagedByHone))
	controller := true
	p.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: types.UID(owner), Controller: &controller}})
	at, grace := metav1.NewTime(time.Now().Add(gone)), int64(gone.Seconds())
	p.SetDeletionTimestamp(&at)
	p.SetDeletionGracePeriodSeconds(&grace)
	s.Put("pods", p)
	time.AfterFunc(gone, func() { s.Remove("pods", name) })
}

func (d *takedown) run(ctx context.Context) error {
	return NewApplier(d.c.dyn, d.c.mapper).Delete(ctx, d.req)
}

func config(name string) string { return strings.Replace(configYAML, "conf", name, 1) }

func TestTakeDownOrder(t *testing.T) {
	type deps = map[model.ManifestName][]model.ManifestName
	for _, tc := range []struct {
		name  string
		deps  deps
		setup func(d *takedown)
		want  []string
		err   string
		// some is set if the order of deletions is random.
		some bool
	}{
		{name: "dependents go first, through resources that have nothing", deps: deps{"c": {"link"}, "link": {"a"}, "b": {"c"}},
			want: []string{"configmap/b", "configmap/c", "configmap/a"}},
		{name: "steps count as parts of their resources", deps: deps{"a": {"operator"}, "operator": {"b"}, "c": {"a"}},
			setup: func(d *takedown) { d.step("operator", time.Second, nil) },
			want:  []string{"configmap/c", "configmap/a", "step operator", "configmap/b"}},
		{name: "one that fails holds up what it depends on", deps: deps{"operator": {"a"}, "a": {"b"}}, some: true,
			setup: func(d *takedown) { d.step("operator", 0, errors.New("exit code 1")) },
			want:  []string{"configmap/c", "step operator"},
			err:   "take down operator: exit code 1\nthe step of operator had to go first; left: configmap/b, configmap/a"},
		{name: "one that is stuck holds up what it depends on", deps: deps{"a": {"operator"}}, some: true,
			setup: func(d *takedown) {
				d.hold("configmaps", "a")
				d.step("operator", 0, nil)
			},
			want: []string{"configmap/a", "configmap/b", "configmap/c"},
			err: "delete configmap/a: configmap/a is still there after 1m0s: finalizers [hone.dev/test]\n" +
				"configmap/a had to go first; left: the step of operator"},
		{name: "what only its own parts keep holds up nothing", deps: deps{"a": {"b"}, "c": {"a"}},
			setup: func(d *takedown) {
				d.finalizers("configmaps", "a", metav1.FinalizerDeleteDependents)
				time.AfterFunc(30*time.Second, func() { d.note("a is gone"); d.finalizers("configmaps", "a") })
			},
			want: []string{"configmap/c", "configmap/a", "configmap/b", "a is gone"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTakedown(t, tc.deps, "a", config("a"), "b", config("b"), "c", config("c"))
				if tc.setup != nil {
					tc.setup(d)
				}
				err := d.run(t.Context())
				if got := textOf(err); got != tc.err {
					t.Errorf("error %q, want %q", got, tc.err)
				}
				if tc.some {
					slices.Sort(d.order)
				}
				if diff := cmp.Diff(tc.want, d.order); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestTakeDownSideBySide runs a few steps at a time; steps that only wait do not count.
func TestTakeDownSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTakedown(t, nil)
		began := time.Now()
		for _, n := range []model.ManifestName{"a", "b", "c", "d", "e", "f", "g"} {
			d.step(n, time.Minute, nil)
		}
		time.AfterFunc(time.Second, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if len(d.order) != stepsAtOnce {
				t.Errorf("at first %v run", d.order)
			}
		})
		if err := d.run(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Minute+stepPatience {
			t.Errorf("took %s", took)
		}
	})
}

// TestTakeDownKeepsNamespacesForSteps deletes a namespace after the steps that may delete objects in it, and keeps it
// when such a step fails.
func TestTakeDownKeepsNamespacesForSteps(t *testing.T) {
	in := func(ns string) model.ObjectID {
		return model.ObjectID{Kind: "ConfigMap", Namespace: ns, Name: "theirs"}
	}
	for _, tc := range []struct {
		name    string
		err     error
		objects []model.ObjectID
		want    []string
	}{
		{"it deletes something in it", nil, []model.ObjectID{in("ns2")}, []string{"step operator", "namespace/ns2"}},
		{"it fails", errors.New("no"), []model.ObjectID{in("ns2")}, []string{"step operator"}},
		{"what it deletes is unknown", errors.New("no"), nil, []string{"step operator"}},
		{"it fails elsewhere", errors.New("no"), []model.ObjectID{in("ns1")}, []string{"namespace/ns2", "step operator"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTakedown(t, nil, "base", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns2}\n")
				d.step("operator", time.Second, tc.err, tc.objects...)
				if err := d.run(t.Context()); (err == nil) != (tc.err == nil) {
					t.Error(err)
				}
				if tc.want[0] == "namespace/ns2" && len(d.order) == 2 && d.order[0] != tc.want[0] {
					d.order[0], d.order[1] = d.order[1], d.order[0] // both ran at the same time
				}
				if diff := cmp.Diff(tc.want, d.order); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestTakeDownOrderOfObjectsWins over the contrary order of resources.
func TestTakeDownOrderOfObjectsWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTakedown(t, map[model.ManifestName][]model.ManifestName{"base": {"app"}, "more": {"base"}},
			"base", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns2}\n", "more", config("more"),
			"app", strings.Replace(config("app"), "{name:", "{namespace: ns2, name:", 1))
		if err := d.run(t.Context()); err != nil {
			t.Error(err)
		}
		if got := d.order[len(d.order)-1]; len(d.order) != 3 || got != "namespace/ns2" {
			t.Errorf("the order is %v", d.order)
		}
	})
}

// TestWaitsForPods of a workload, and for no other pods.
func TestWaitsForPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTakedown(t, nil, "web", deploymentYAML("web", "web", "80"))
		d.req.Pods = true
		began := time.Now()
		mine := map[string]string{"app": "web", "pod-template-hash": "77"}
		d.pod("web-77-x", "web-77", mine, 20*time.Second)
		d.pod("alien", "alien-77", mine, time.Hour)
		if err := d.run(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began).Round(time.Second); took != 20*time.Second {
			t.Errorf("took %s", took)
		}
		if want := "       → deleted web:deployment\nWaiting until gone: pod/web-77-x (it has 20 s to end)\n"; d.log.String() != want {
			t.Errorf("log:\n%s", d.log)
		}
		d = newTakedown(t, nil, "web", deploymentYAML("web", "web", "80"))
		d.req.Pods, d.req.WaitLimit = true, time.Minute
		d.pod("web-77-x", "web-77", mine, 2*time.Minute)
		want := "delete deployment/web: its pods (pod/web-77-x): pod/web-77-x is still there after 1m0s: it has 120 s to end"
		if got := textOf(d.run(t.Context())); got != want {
			t.Errorf("got %q", got)
		}
		time.Sleep(time.Hour)
	})
}

// TestDownAfterOneThatFailed: the pods of a workload that an earlier deletion did not outlast are waited for, or named.
func TestDownAfterOneThatFailed(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: web}\nspec:\n  template: {spec: {containers: [{name: main, image: busybox, ports: [{containerPort: 80}]}]}}\n"
	const cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\nspec:\n  schedule: '* * * * *'\n" +
		"  jobTemplate: {spec: {template: {spec: {containers: [{name: main, image: busybox}]}}}}\n"
	for _, of := range []struct {
		kind, yaml, owner string
		labels            map[string]string
		// served is what the API server adds to the declaration.
		served func(d *takedown, s *deploytest.Server)
	}{
		{kind: "deployment", yaml: deploymentYAML("web", "web", "80"), owner: "ReplicaSet/web-77", labels: map[string]string{"app": "web", "pod-template-hash": "77"}},
		{kind: "job", yaml: job, owner: "Job/web", labels: map[string]string{"job-name": "web"}, served: func(_ *takedown, s *deploytest.Server) {
			live := s.Objects("jobs")["web"]
			live.Object["spec"].(map[string]any)["selector"] = map[string]any{"matchLabels": map[string]any{"job-name": "web"}}
			live.SetUID("web")
			s.Put("jobs", live)
		}},
		{kind: "cronjob", yaml: cron, owner: "Job/web-29", labels: map[string]string{"job-name": "web-29"}, served: func(_ *takedown, s *deploytest.Server) {
			run, controller := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}, true
			run.SetName("web-29")
			run.SetNamespace("ns1")
			run.SetUID("web-29")
			run.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "web", UID: s.Objects("cronjobs")["web"].GetUID(), Controller: &controller}})
			s.Put("jobs", run)
		}},
	} {
		for _, tc := range []struct {
			name    string
			wait    bool
			outcome DeleteOutcome
			log     string
			took    time.Duration
		}{
			{"waits", true, OutcomeDeleted, "Waiting until gone: pod/web-77-x (it has 20 s to end)\n", 15 * time.Second},
			{"looks", false, OutcomeGoing, "       → is being deleted: web:" + of.kind + " (its pods end: pod/web-77-x (it has 20 s to end))\n", 0},
		} {
			t.Run(of.kind+" "+tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newTakedown(t, nil, "web", of.yaml)
					memory := openLedger(t, t.TempDir())
					if err := memory.Remember(d.c.inject(t, of.yaml)[0], true); err != nil {
						t.Fatal(err)
					}
					if of.served != nil {
						of.served(d, d.c.dyn.(*deploytest.Server))
					}
					labels := maps.Clone(of.labels)
					labels[LabelManagedBy] = ManagedByHone
					kind, owner, _ := strings.Cut(of.owner, "/")
					d.podOf(kind, "web-77-x", owner, labels, 20*time.Second)
					d.pod("alien", "alien-77", labels, time.Hour)
					d.req.Pods, d.req.Found, d.req.WaitLimit = true, memory, 5*time.Second
					if err := d.run(t.Context()); err == nil || !strings.Contains(err.Error(), "pod/web-77-x is still there") {
						t.Fatalf("the first one: %v", err)
					}
					d.log = &recorder{}
					d.req.Logger, d.req.Wait, d.req.Look, d.req.WaitLimit = d.log, tc.wait, !tc.wait, time.Minute
					var outcome DeleteOutcome
					d.req.Done = func(_ ObjectRef, o DeleteOutcome) { outcome = o }
					began := time.Now()
					err := d.run(t.Context())
					if err != nil || outcome != tc.outcome || d.log.String() != tc.log {
						t.Errorf("%v, %s, log:\n%s", err, outcome, d.log)
					}
					if took := time.Since(began).Round(time.Second); took != tc.took {
						t.Errorf("took %s", took)
					}
					time.Sleep(time.Hour)
				})
			})
		}
	}
}

// TestSaysDeletedOnlyOfWhatIsGone with a finalizer, in each way to delete.
func TestSaysDeletedOnlyOfWhatIsGone(t *testing.T) {
	for _, tc := range []struct {
		name       string
		wait, look bool
		want       string // the first line
		then       string // after the finalizer is gone
	}{
		{"waits", true, false, "Waiting until gone: configmap/stk (finalizers [hone.dev/test])\n", "       → deleted stk:configmap\n"},
		{"looks", false, true, "       → is being deleted: stk:configmap (finalizers [hone.dev/test])\n", ""},
		{"does neither", false, false, "       → is being deleted: stk:configmap (finalizers [hone.dev/test])\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTakedown(t, nil, "stk", config("stk"))
				d.hold("configmaps", "stk")
				d.req.Wait, d.req.Look = tc.wait, tc.look
				time.AfterFunc(10*time.Second, func() { d.finalizers("configmaps", "stk") })
				if err := d.run(t.Context()); err != nil || d.log.String() != tc.want+tc.then {
					t.Errorf("%v, log:\n%s", err, d.log)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestBreaksOff checks the report of the remaining objects when the user interrupts a deletion.
func TestBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTakedown(t, map[model.ManifestName][]model.ManifestName{"a": {"b"}}, "a", config("a"), "b", config("b"),
			"c", config("c"), "web", deploymentYAML("web", "web", "80"))
		d.req.Pods = true
		d.hold("configmaps", "a")
		d.pod("web-77-x", "web-77", map[string]string{"app": "web", "pod-template-hash": "77"}, time.Hour)
		d.step("b", time.Hour, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := d.run(ctx)
		var left *Unfinished
		if !errors.As(err, &left) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		want := "still being deleted: configmap/a (finalizers [hone.dev/test]), pod/web-77-x (it has 3600 s to end); not deleted: configmap/b, the step of b"
		if left.Error() != want {
			t.Errorf("got %q", left)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if got := textOf(d.run(ctx)); !strings.HasPrefix(got, "not deleted: configmap/a, configmap/b, ") {
			t.Errorf("broken off at once: %q", got)
		}
		time.Sleep(time.Hour)
	})
}

// TestCollectDoesNotWait for held objects; they stay recorded as leaving until they are declared again, or gone.
func TestCollectDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTakedown(t, nil, "web", config("held")+"---"+config("free"))
		d.hold("configmaps", "held")
		memory := openLedger(t, t.TempDir())
		held := model.ObjectID{Kind: "ConfigMap", Namespace: "ns1", Name: "held"}
		free := model.ObjectID{Kind: "ConfigMap", Namespace: "ns1", Name: "free"}
		before := []ledger.Record{{ObjectID: held, APIVersion: "v1"}, {ObjectID: free, APIVersion: "v1"}}
		if err := memory.Record("web", before); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		collect := func() {
			t.Helper()
			if err := NewApplier(d.c.dyn, d.c.mapper, WithParallelism(1)).Collect(t.Context(), CollectRequest{Memory: memory, Resource: "web", Logger: d.log}); err != nil {
				t.Fatal(err)
			}
		}
		leaving := func(what string, want bool) {
			t.Helper()
			list := contents(t, memory)["web"]
			if len(list) != 1 || list[0].ObjectID != held || list[0].Leaving != want {
				t.Errorf("%s: the ledger has %+v", what, list)
			}
		}
		collect()
		leaving("after a collection", true)
		collect()
		leaving("after another one", true)
		want := "Collecting what web no longer declares:\n       → is being deleted: held:configmap (finalizers [hone.dev/test])\n       → deleted free:configmap\n" +
			"Collecting what web no longer declares:\n       → is being deleted: held:configmap (finalizers [hone.dev/test])\n"
		if time.Since(began) != 0 || d.log.String() != want {
			t.Errorf("after %s, log:\n%s", time.Since(began), d.log)
		}
		if err := memory.Record("web", before[:1]); err != nil {
			t.Fatal(err)
		}
		leaving("declared again", false)
		if err := memory.Set("web", []model.AppliedObject{{ObjectID: held, APIVersion: "v1", UID: "new"}}); err != nil {
			t.Fatal(err)
		}
		if err := memory.Drop(ledger.Records{"web": {{ObjectID: held, UID: "old"}}}, nil); err != nil {
			t.Fatal(err)
		}
		leaving("made again meanwhile", false)
	})
}
