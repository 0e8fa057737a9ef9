package deploy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/internal/base/problem"
)

func parsed(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, o := range objectsOf(t, text) {
		u, err := parse(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

func TestGraphEdges(t *testing.T) {
	objects := parsed(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      serviceAccountName: robot
      imagePullSecrets: [{name: pull}]
      containers:
      - name: main
        envFrom: [{configMapRef: {name: conf}}]
        env: [{name: A, valueFrom: {secretKeyRef: {name: keys, key: a}}}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}, {name: p, projected: {sources: [{configMap: {name: more}}]}}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bind, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role}
subjects: [{kind: ServiceAccount, name: robot}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: elsewhere}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: shop}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {storageClassName: fast}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
---
apiVersion: shop.dev/v1
kind: Fleet
metadata: {name: f, namespace: shop, annotations: {config.kubernetes.io/depends-on: "apps/namespaces/shop/Deployment/web, /Namespace/none"}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.shop.dev}
spec: {group: shop.dev, names: {kind: Fleet}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: shop}
`)
	g, err := newGraph(objects)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for i, needs := range g.needs {
		for _, d := range needs {
			if g.ids[d].Kind != "Namespace" {
				got[title(g.ids[i])] = append(got[title(g.ids[i])], title(g.ids[d]))
			}
		}
	}
	want := map[string][]string{
		"deployment/web": {"serviceaccount/robot", "rolebinding/bind", "configmap/conf", "secret/keys",
			"persistentvolumeclaim/data", "limitrange/limits"},
		"rolebinding/bind":           {"serviceaccount/robot", "role/role"},
		"persistentvolumeclaim/data": {"storageclass/fast"},
		"fleet/f":                    {"deployment/web", "customresourcedefinition/fleets.shop.dev"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, u := range objects {
		if u.GetNamespace() == "shop" && !slices.Contains(g.needs[i], 1) {
			t.Errorf("%s does not need its namespace", title(g.ids[i]))
		}
	}
}

func TestGraphTwinsKeepTheirOrder(t *testing.T) {
	g, err := newGraph(parsed(t, configYAML+"---"+configYAML+"---"+configYAML))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{}, {0}, {1}}, g.needs, cmp.Transformer("len", func(s []int) []int { return append([]int{}, s...) })); diff != "" {
		t.Error(diff)
	}
}

// dependent returns an object that depends, by annotation, on the objects of the given numbers.
func dependent(n int, on []int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("v1")
	u.SetKind("ConfigMap")
	u.SetName(fmt.Sprintf("c%d", n))
	refs := make([]string, len(on))
	for i, d := range on {
		refs[i] = fmt.Sprintf("/ConfigMap/c%d", d)
	}
	u.SetAnnotations(map[string]string{AnnotationDependsOn: strings.Join(refs, ",")})
	return u
}

func TestGraphCycleIsShown(t *testing.T) {
	_, err := newGraph([]*unstructured.Unstructured{dependent(0, []int{1}), dependent(1, []int{2}), dependent(2, []int{1})})
	p, ok := problem.Of(err)
	if !ok || p.Summary != "objects depend on each other: configmap/c1 → configmap/c2 → configmap/c1" {
		t.Errorf("got %v", err)
	}
}

// TestGraphProperties checks on random graphs that a walk starts no node before its dependencies, runs every node once,
// and that a failure blocks exactly the dependents.
func TestGraphProperties(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(25)
		objects := make([]*unstructured.Unstructured, n)
		for i := range n {
			var on []int
			for d := range i {
				if rng.IntN(4) == 0 {
					on = append(on, d)
				}
			}
			objects[i] = dependent(i, on)
		}
		rng.Shuffle(n, func(a, b int) { objects[a], objects[b] = objects[b], objects[a] })
		g, err := newGraph(objects)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkWalk(t, seed, g, rng.IntN(n), 1+rng.IntN(4))
	}
}

func checkWalk(t *testing.T, seed uint64, g *graph, failing, limit int) {
	t.Helper()
	type event struct {
		object int
		end    bool
	}
	events := make(chan event, 2*len(g.ids))
	order := g.order()
	op, err := operation.New(g.nodes(order, &applying{apply: func(i int) error {
		events <- event{i, false}
		defer func() { events <- event{i, true} }()
		if i == failing {
			return errors.New("no")
		}
		return nil
	}}))
	if err != nil {
		t.Fatal(err)
	}
	errs, err := op.Apply(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	close(events)
	ended, ran, running := map[int]bool{}, map[int]int{}, 0
	for e := range events {
		if e.end {
			ended[e.object] = true
			running--
			continue
		}
		ran[e.object]++
		if running++; running > limit {
			t.Fatalf("seed %d: %d at a time", seed, running)
		}
		for _, d := range g.needs[e.object] {
			if !ended[d] || d == failing {
				t.Fatalf("seed %d: %d started before %d", seed, e.object, d)
			}
		}
	}
	needs := func(i int) bool { return reaches(g, i, failing) }
	for k, i := range order {
		var blocked *dag.Blocked
		switch {
		case i == failing:
			if ran[i] != 1 || errs[k] == nil {
				t.Fatalf("seed %d: the failing node", seed)
			}
		case needs(i):
			if ran[i] != 0 || !errors.As(errs[k], &blocked) {
				t.Fatalf("seed %d: %d ran though blocked: %v", seed, i, errs[k])
			}
		case ran[i] != 1 || errs[k] != nil:
			t.Fatalf("seed %d: %d ran %d times: %v", seed, i, ran[i], errs[k])
		}
	}
}

// applying is a runtime that only applies.
type applying struct {
	operation.Runtime
	apply func(item int) error
}

func (*applying) Record(context.Context, []int) error               { return nil }
func (a *applying) Apply(_ context.Context, i int) error            { return a.apply(i) }
func (*applying) Await(context.Context, int, operation.State) error { return nil }

func reaches(g *graph, from, to int) bool {
	return slices.ContainsFunc(g.needs[from], func(d int) bool { return d == to || reaches(g, d, to) })
}
