package deploy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// servingYAML is a Deployment whose one pod runs a command, and is ready once the file /tmp/ready exists.
func servingYAML(name, command string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: busybox
        imagePullPolicy: IfNotPresent
        command: [sh, -c, '%[2]s']
        readinessProbe: {exec: {command: [cat, /tmp/ready]}, periodSeconds: 1}
`, name, command)
}

const (
	becomesReady = "touch /tmp/ready; exec sleep 1000"
	neverReady   = "exec sleep 1000"
	ends         = "exit 3"
)

func serviceYAML(app string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {selector: {app: %s}, ports: [{port: 80}]}\n", app)
}

// TestRealServiceIsSwitchedLast gives a Service another selector, along with a new workload that becomes ready, does not within the
// time limit, or cannot run: the Service follows when the pods are ready, after the limit, or when it is clear that waiting is no use.
func TestRealServiceIsSwitchedLast(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, command string
		timeout       time.Duration
		ready         bool
		want          string
	}{
		{"ready", becomesReady, time.Minute, true, "service/shop selects other pods from now on, and is switched when they are ready: deployment/new"},
		{"never ready", neverReady, 2 * time.Second, false, "warn: service/shop is switched to pods that are not ready: deployment/new"},
		{"cannot run", ends, time.Minute, false, "warn: service/shop is switched to pods that are not ready: deployment/new"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := realCluster(t)
			c.mustApply(t, c.inject(t, servingYAML("old", becomesReady)+serviceYAML("old")))
			log := &recorder{}
			objects := c.inject(t, servingYAML("new", tc.command)+serviceYAML("new"))
			done, err := NewApplier(c.dyn, c.mapper).Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Timeout: tc.timeout, Logger: log})
			if err != nil || len(done) != 2 {
				t.Fatalf("%v %v\n%s", done, err, log)
			}
			if got := Selector(c.get(t, objects[1])); got["app"] != "new" {
				t.Errorf("it selects %v", got)
			}
			n, _ := number(field(c.get(t, objects[0]).Object, "status")["availableReplicas"])
			if ready := n > 0; ready != tc.ready || !strings.Contains(log.String(), tc.want) {
				t.Errorf("%v pods are ready, and the log says\n%s", n, log)
			}
		})
	}
}

// TestRealServiceStaysIfItsWorkloadFails: the API server refuses the new workload, and the Service keeps its pods.
func TestRealServiceStaysIfItsWorkloadFails(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	c.mustApply(t, c.inject(t, servingYAML("old", becomesReady)+serviceYAML("old")))
	objects := c.inject(t, strings.Replace(servingYAML("new", becomesReady), "name: main", "name: Not_Valid", 1)+serviceYAML("new"))
	_, log, err := c.apply(t, objects)
	if err == nil || !strings.Contains(err.Error(), "apply service/shop: blocked by deployment/new") {
		t.Errorf("%v\n%s", err, log)
	}
	if got := Selector(c.get(t, objects[1])); got["app"] != "old" {
		t.Errorf("it selects %v", got)
	}
}

// TestRealLeftoversThatServeStay renames the Deployment of a resource: the old one, with everything that belongs to it, stays until
// the new one is ready, and the ledger has it until it is gone.
func TestRealLeftoversThatServeStay(t *testing.T) {
	t.Parallel()
	c := realCluster(t)
	a := NewApplier(c.dyn, c.mapper)
	memory := openLedger(t, t.TempDir())
	deploy := func(text string) ([]*unstructured.Unstructured, string) {
		t.Helper()
		log := &recorder{}
		objects := c.inject(t, text)
		if err := memory.Record("web", RecordsFor(objects)); err != nil {
			t.Fatal(err)
		}
		done, err := a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: objects, Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Collect(t.Context(), CollectRequest{Memory: memory, Resource: "web", Applied: done, Project: "project1", Logger: log}); err != nil {
			t.Fatal(err)
		}
		return objects, log.String()
	}
	conf := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n"
	old, _ := deploy(servingYAML("old", becomesReady) + conf)
	recorded := func() (leaving []string) {
		t.Helper()
		all, err := memory.Resources()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all["web"] {
			if r.Leaving {
				leaving = append(leaving, title(r.ObjectID))
			}
		}
		return leaving
	}
	failing, log := deploy(servingYAML("new", neverReady))
	if c.get(t, old[0]) == nil || c.get(t, old[1]) == nil || fmt.Sprint(recorded()) != "[configmap/conf deployment/old]" ||
		!strings.Contains(log, "What web no longer declares stays until its replacements are ready: deployment/new") {
		t.Errorf("leaving: %v\n%s", recorded(), log)
	}
	if standing, err := a.Standing(t.Context(), []ledger.Record{{ObjectID: IDOf(old[0])}}, time.Minute); !standing || err != nil {
		t.Errorf("standing: %v %v", standing, err)
	}
	ready, log := deploy(servingYAML("ready", becomesReady)) // the new one never got ready, and goes as well once this one is
	if fmt.Sprint(recorded()) != "[configmap/conf deployment/new deployment/old]" {
		t.Errorf("leaving: %v\n%s", recorded(), log)
	}
	if why, err := a.awaitReady(t.Context(), []model.ObjectID{IDOf(ready[0])}, time.Minute, time.Minute, func(string) {}); why != "" || err != nil {
		t.Fatal(why, err)
	}
	deploy(servingYAML("ready", becomesReady))
	late := c.inject(t, servingYAML("late", neverReady))
	done, err := a.Apply(t.Context(), ApplyRequest{Resource: "web", Objects: late})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Collect(t.Context(), CollectRequest{Memory: memory, Resource: "web", Applied: done, Project: "project1", AtOnce: true}); err != nil {
		t.Fatal(err)
	}
	for _, u := range []*unstructured.Unstructured{old[0], old[1], failing[0], ready[0]} {
		if live := c.get(t, u); live != nil && live.GetDeletionTimestamp() == nil {
			t.Errorf("%s is still there", title(IDOf(u)))
		}
	}
}

// TestSelects compares selectors with the pods of workloads.
func TestSelects(t *testing.T) {
	workload := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
		"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web", "tier": "front"}}}}}}
	pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"labels": map[string]any{"app": "web"}}}}
	for _, tc := range []struct {
		selector          map[string]string
		byWorkload, byPod bool
	}{
		{map[string]string{"app": "web"}, true, true},
		{map[string]string{"app": "web", "tier": "front"}, true, false},
		{map[string]string{"app": "api"}, false, false},
		{nil, false, false},
	} {
		if got := Selects(tc.selector, workload); got != tc.byWorkload {
			t.Errorf("%v selects the workload: %v", tc.selector, got)
		}
		if got := Selects(tc.selector, pod); got != tc.byPod {
			t.Errorf("%v selects the pod: %v", tc.selector, got)
		}
	}
}
