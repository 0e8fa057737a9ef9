package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/operation/operationtest"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRuntime: objects keep the contract of operation.Runtime, on the fake server and on a real one.
func TestRuntime(t *testing.T) {
	for name, start := range map[string]func(testing.TB) cluster{"fake": fakeCluster, "real": realCluster} {
		t.Run(name, func(t *testing.T) {
			operationtest.Run(t, operationtest.Traits{Items: 3}, func(t *testing.T) operationtest.Subject {
				c := start(t)
				memory, err := openMemory(t.TempDir(), ledger.Key{Cluster: "c", Project: "project1"})
				if err != nil {
					t.Fatal(err)
				}
				var yaml []string
				for i := range 3 {
					yaml = append(yaml, strings.Replace(configYAML, "conf", fmt.Sprint("conf", i), 1))
				}
				return declared{c, memory, c.inject(t, strings.Join(yaml, "---"))}
			})
		})
	}
}

// declared are objects on a cluster, item i is objects[i].
type declared struct {
	cluster
	memory  *Memory
	objects []*unstructured.Unstructured
}

func (d declared) Identity(t *testing.T, item int) string {
	t.Helper()
	if u := d.get(t, d.objects[item]); u != nil {
		return string(u.GetUID())
	}
	return ""
}

// Runtime has all three parts of the runtime, each as its own call of the Applier would have it.
func (d declared) Runtime(t *testing.T) operation.Runtime {
	t.Helper()
	const timeout = 30 * time.Second
	g, err := newGraph(d.objects)
	if err != nil {
		t.Fatal(err)
	}
	n, a := len(d.objects), NewApplier(d.dyn, d.mapper)
	of := make([]Declared, n)
	del := &deleteRun{a: a, req: DeleteRequest{Project: "project1", Wait: true, WaitLimit: timeout, Timeout: timeout, Logger: logstore.Discard}, outcomes: map[ObjectRef]DeleteOutcome{}}
	for i, u := range d.objects {
		of[i].Resource = "web"
		del.req.Objects = append(del.req.Objects, ObjectRef{ObjectID: IDOf(u), Resource: "web"})
	}
	if err := del.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	del.fates = make([]fate, len(del.live))
	w := whole{objects{
		apply: &applyRun{a: a, req: ApplyRequest{Resource: "web", Objects: d.objects, Timeout: timeout, Logger: logstore.Discard,
			Record: func(context.Context) error { return d.memory.Record("web", RecordsFor(d.objects)) }}, g: g, outcomes: make([]outcome, n), later: make([][]int, n)},
		plan: &preview{a: a, req: PreviewRequest{Project: "project1", Timeout: timeout, Prior: d.memory.Remembered}, g: g, of: of, steps: make([]api.PlanStep, n),
			owners: map[model.ObjectID]model.ManifestName{}},
		del: del,
	}, map[int]int{}}
	for at, ref := range del.refs {
		for i, u := range d.objects {
			if IDOf(u) == ref.ObjectID {
				w.live[i] = at
			}
		}
	}
	return w
}

// whole numbers the existing objects as the declared objects are numbered. A deletion knows only the existing ones.
type whole struct {
	objects
	live map[int]int
}

// Delete implements operation.Runtime.
func (w whole) Delete(ctx context.Context, item int) error {
	at, exists := w.live[item]
	if !exists {
		return nil
	}
	return w.objects.Delete(ctx, at)
}

// Await implements operation.Runtime.
func (w whole) Await(ctx context.Context, item int, until operation.State) error {
	at, exists := w.live[item]
	switch {
	case until == operation.Ready:
		return w.objects.Await(ctx, item, until)
	case !exists:
		return nil
	}
	return w.objects.Await(ctx, at, until)
}

// planned is a runtime whose items have names.
type planned struct {
	operationtest.World
	names []string
}

// Plan implements operation.Runtime.
func (p *planned) Plan(_ context.Context, item int) (*api.PlanStep, error) {
	return &api.PlanStep{Object: api.PlanObject{Kind: api.PlanLocal, Name: p.names[item]}, Action: api.ActionRun}, nil
}

// TestPreviewOfSeveralRuntimes: one plan has the nodes of all runtimes, each after the nodes of the resources that come before
// its own.
func TestPreviewOfSeveralRuntimes(t *testing.T) {
	c := fakeCluster(t)
	beside := &planned{names: []string{"schema", "seed", "docs"}}
	node := func(item int) []operation.Node {
		return []operation.Node{{Name: beside.names[item], Item: item, Runtime: beside, Resource: model.ManifestName(beside.names[item])}}
	}
	steps, err := NewApplier(c.dyn, c.mapper).Preview(t.Context(), PreviewRequest{Project: "project1", Declared: []Declared{
		{Resource: "seed", After: []model.ManifestName{"db"}, Beside: node(1)},
		{Resource: "web", After: []model.ManifestName{"seed"}, Objects: c.inject(t, config("web"))},
		{Resource: "db", After: []model.ManifestName{"schema"}, Objects: c.inject(t, config("db")+"---"+config("db-keys"))},
		{Resource: "schema", Beside: node(0)},
		{Resource: "docs", Beside: node(2)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range steps {
		got = append(got, s.Object.Name)
	}
	if want := "schema db db-keys seed web docs"; strings.Join(got, " ") != want {
		t.Errorf("planned %v, want %s", got, want)
	}
}
