package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	validate "k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"
)

// fakeServer is an API server without schemas. It supports apply, delete and list as far as the scenarios need them.
// TestScenarios checks it against a real one.
type fakeServer struct {
	dynamic.Interface

	mu      sync.Mutex
	objects map[string]*fakeObject // guarded by mu, as everything below
	version int
	calls   []string
}

type fakeObject struct {
	live *unstructured.Unstructured
	last map[string]any // as last applied
}

// fakeCluster returns a cluster on a fresh fake that has one namespace.
func fakeCluster(testing.TB) cluster {
	s := &fakeServer{objects: map[string]*fakeObject{}}
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"}})
	for gv, kinds := range map[string][]string{
		"v1":      {"ConfigMap", "Secret", "Service", "ServiceAccount", "Pod", "PersistentVolumeClaim"},
		"apps/v1": {"Deployment", "StatefulSet"}, "batch/v1": {"Job"},
	} {
		parsed, _ := schema.ParseGroupVersion(gv)
		for _, k := range kinds {
			m.Add(parsed.WithKind(k), meta.RESTScopeNamespace)
		}
	}
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": "ns1"}}}
	s.store("namespaces", ns, nil)
	return cluster{dyn: s, mapper: m, namespace: "ns1"}
}

func (s *fakeServer) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &fakeResource{s: s, gvr: r}
}

func (s *fakeServer) store(resource string, u *unstructured.Unstructured, last map[string]any) {
	s.version++
	u.SetResourceVersion(strconv.Itoa(s.version))
	if u.GetUID() == "" {
		u.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	}
	s.objects[resource+"/"+u.GetNamespace()+"/"+u.GetName()] = &fakeObject{live: u, last: last}
}

// fakeResource is one kind in one namespace, or in all.
type fakeResource struct {
	dynamic.NamespaceableResourceInterface
	s   *fakeServer
	gvr schema.GroupVersionResource
	ns  string
}

func (r *fakeResource) Namespace(ns string) dynamic.ResourceInterface {
	return &fakeResource{s: r.s, gvr: r.gvr, ns: ns}
}

func (r *fakeResource) key(name string) string { return r.gvr.Resource + "/" + r.ns + "/" + name }

func (r *fakeResource) notFound(name string) error {
	return apierrors.NewNotFound(r.gvr.GroupResource(), name)
}

func (r *fakeResource) enter(ctx context.Context, verb, name string) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.s.mu.Lock()
	r.s.calls = append(r.s.calls, verb+" "+r.gvr.Resource+"/"+name)
	return r.s.mu.Unlock, nil
}

func (r *fakeResource) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	leave, err := r.enter(ctx, "get", name)
	if err != nil {
		return nil, err
	}
	defer leave()
	o, ok := r.s.objects[r.key(name)]
	if !ok {
		return nil, r.notFound(name)
	}
	return o.live.DeepCopy(), nil
}

func (r *fakeResource) List(ctx context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	leave, err := r.enter(ctx, "list", "")
	if err != nil {
		return nil, err
	}
	defer leave()
	sel, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	for key, o := range r.s.objects {
		if strings.HasPrefix(key, r.gvr.Resource+"/") && (r.ns == "" || o.live.GetNamespace() == r.ns) &&
			sel.Matches(labels.Set(o.live.GetLabels())) {
			list.Items = append(list.Items, *o.live.DeepCopy())
		}
	}
	return list, nil
}

func (r *fakeResource) Create(ctx context.Context, u *unstructured.Unstructured, opts metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	leave, err := r.enter(ctx, "create", u.GetName())
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := r.check(nil, u); err != nil || len(opts.DryRun) > 0 {
		return u, err
	}
	r.s.store(r.gvr.Resource, u.DeepCopy(), nil)
	return r.s.objects[r.key(u.GetName())].live.DeepCopy(), nil
}

func (r *fakeResource) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*unstructured.Unstructured, error) {
	leave, err := r.enter(ctx, "patch", name)
	if err != nil {
		return nil, err
	}
	defer leave()
	var patch map[string]any
	if err := utiljson.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	old := r.s.objects[r.key(name)]
	var next, last map[string]any
	switch {
	case pt == types.ApplyPatchType && old == nil:
		next, last = patch, clonedMap(patch)
	case old == nil:
		return nil, r.notFound(name)
	case pt == types.ApplyPatchType:
		next, last = clonedMap(old.live.Object), clonedMap(patch)
		dropGone(next, old.last, patch)
		merge(next, patch, false)
	case pt == types.MergePatchType:
		next, last = clonedMap(old.live.Object), old.last
		merge(next, patch, true)
	default:
		return nil, fmt.Errorf("fake: no %s", pt)
	}
	u := &unstructured.Unstructured{Object: next}
	u.SetNamespace(r.ns)
	if err := r.check(old, u); err != nil {
		return nil, err
	}
	if old == nil || !reflect.DeepEqual(old.live.Object, next) {
		r.s.store(r.gvr.Resource, u, last)
		if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
			delete(r.s.objects, r.key(name))
		}
	}
	return u.DeepCopy(), nil
}

// check is the fake's validation: namespaces exist, keys of ConfigMaps have no blanks, container ports are positive,
// selectors do not change.
func (r *fakeResource) check(old *fakeObject, u *unstructured.Unstructured) error {
	if r.ns != "" && r.s.objects["namespaces//"+r.ns] == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, r.ns)
	}
	var errs validate.ErrorList
	data, _, _ := unstructured.NestedMap(u.Object, "data")
	for k := range data {
		if strings.Contains(k, " ") {
			errs = append(errs, validate.Invalid(validate.NewPath("data"), k, "a valid config key must consist of …"))
		}
	}
	for _, spec := range podSpecs(u) {
		for _, c := range itemsOf(spec, "containers") {
			for _, p := range itemsOf(c, "ports") {
				if n, _ := number(p["containerPort"]); n <= 0 {
					errs = append(errs, validate.Invalid(validate.NewPath("spec", "ports"), n, "must be between 1 and 65535"))
				}
			}
		}
	}
	if old != nil {
		was, _, _ := unstructured.NestedMap(old.live.Object, "spec", "selector")
		is, _, _ := unstructured.NestedMap(u.Object, "spec", "selector")
		if r.gvr.Resource == "deployments" && !reflect.DeepEqual(was, is) {
			errs = append(errs, validate.Invalid(validate.NewPath("spec", "selector"), "…", "field is immutable"))
		}
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(u.GroupVersionKind().GroupKind(), u.GetName(), errs)
	}
	return nil
}

func (r *fakeResource) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, _ ...string) error {
	leave, err := r.enter(ctx, "delete", name)
	if err != nil {
		return err
	}
	defer leave()
	o, ok := r.s.objects[r.key(name)]
	if !ok {
		return r.notFound(name)
	}
	if p := opts.Preconditions; p != nil && p.UID != nil && *p.UID != o.live.GetUID() {
		return apierrors.NewConflict(r.gvr.GroupResource(), name, fmt.Errorf("the UID in the precondition does not match"))
	}
	if len(o.live.GetFinalizers()) > 0 {
		now := metav1.Now()
		o.live.SetDeletionTimestamp(&now)
		return nil
	}
	delete(r.s.objects, r.key(name))
	return nil
}

// deletions returns the names that were deleted, in order.
func (s *fakeServer) deletions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.calls {
		if name, ok := strings.CutPrefix(c, "delete "); ok {
			out = append(out, name)
		}
	}
	return out
}

func (s *fakeServer) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.calls), func(c string) bool { return !strings.HasPrefix(c, verb+" ") }))
}

func clonedMap(m map[string]any) map[string]any {
	raw, _ := json.Marshal(m)
	var out map[string]any
	_ = utiljson.Unmarshal(raw, &out)
	return out
}

// merge lays patch over m; null removes when nulls is set.
func merge(m, patch map[string]any, nulls bool) {
	for k, v := range patch {
		if v == nil && nulls {
			delete(m, k)
			continue
		}
		below, ok := m[k].(map[string]any)
		if pm, isMap := v.(map[string]any); isMap && ok {
			merge(below, pm, nulls)
			continue
		}
		m[k] = v
	}
}

// dropGone removes from m what last has and next has not.
func dropGone(m, last, next map[string]any) {
	for k, v := range last {
		nv, has := next[k]
		if !has {
			delete(m, k)
			continue
		}
		lm, ok1 := v.(map[string]any)
		nm, ok2 := nv.(map[string]any)
		mm, ok3 := m[k].(map[string]any)
		if ok1 && ok2 && ok3 {
			dropGone(mm, lm, nm)
		}
	}
}
