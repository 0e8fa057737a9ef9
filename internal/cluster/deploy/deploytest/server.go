// Package deploytest is an API server in memory, for tests of code that deploys to a cluster. The scenarios of package deploy run
// on it and on a real one.
package deploytest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Server is an API server without schemas. It supports apply, delete and list as far as the scenarios of package deploy need them. It is
// safe for use by several goroutines; its fields must be set before.
type Server struct {
	dynamic.Interface

	// Delay is the time that each request takes.
	Delay time.Duration
	// Before, unless nil, is called with each request, before it has an effect. Its error is the answer. After is called with each
	// request that has had its effect; its error takes the place of the answer.
	Before, After func(verb, resource, name string) error

	mu      sync.Mutex
	objects map[string]*object // guarded by mu, as everything below
	version int
	calls   []string
}

type object struct {
	live *unstructured.Unstructured
	last map[string]any // as last applied
}

// Namespace is the namespace that a new Server has.
const Namespace = "ns1"

// New returns a Server with one namespace and nothing in it.
func New() *Server {
	s := &Server{objects: map[string]*object{}}
	for _, name := range []string{Namespace, "kube-system"} {
		ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
		s.store("namespaces", ns, nil)
	}
	return s
}

// Mapper knows the kinds of a Server.
func Mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"}})
	for gv, kinds := range map[string][]string{
		"v1":      {"ConfigMap", "Secret", "Service", "ServiceAccount", "Pod", "PersistentVolumeClaim"},
		"apps/v1": {"Deployment", "StatefulSet"}, "batch/v1": {"Job", "CronJob"},
	} {
		parsed, _ := schema.ParseGroupVersion(gv)
		for _, k := range kinds {
			m.Add(parsed.WithKind(k), meta.RESTScopeNamespace)
		}
	}
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	return m
}

// Put adds an object, as another program would.
func (s *Server) Put(resource string, u *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(resource, u, nil)
}

// Remove removes an object at once.
func (s *Server) Remove(resource, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, resource+"/"+Namespace+"/"+name)
}

// SetFinalizers replaces the finalizers of an object. Without any, an object that is being deleted vanishes.
func (s *Server) SetFinalizers(resource, name string, list ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := resource + "/" + Namespace + "/" + name
	o := s.objects[key]
	o.live.SetFinalizers(list)
	if len(list) == 0 && o.live.GetDeletionTimestamp() != nil {
		delete(s.objects, key)
	}
}

// Objects returns copies of the objects of a kind, by name.
func (s *Server) Objects(resource string) map[string]*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*unstructured.Unstructured{}
	for key, o := range s.objects {
		if name, ok := strings.CutPrefix(key, resource+"/"+Namespace+"/"); ok {
			out[name] = o.live.DeepCopy()
		}
	}
	return out
}

// Resource implements dynamic.Interface.
func (s *Server) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &resource{s: s, gvr: r}
}

func (s *Server) store(kind string, u *unstructured.Unstructured, last map[string]any) {
	s.version++
	u.SetResourceVersion(strconv.Itoa(s.version))
	if u.GetUID() == "" {
		u.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	}
	s.objects[kind+"/"+u.GetNamespace()+"/"+u.GetName()] = &object{live: u, last: last}
}

// resource is one kind in one namespace, or in all.
type resource struct {
	dynamic.NamespaceableResourceInterface
	s   *Server
	gvr schema.GroupVersionResource
	ns  string
}

func (r *resource) Namespace(ns string) dynamic.ResourceInterface {
	return &resource{s: r.s, gvr: r.gvr, ns: ns}
}

func (r *resource) key(name string) string { return r.gvr.Resource + "/" + r.ns + "/" + name }

func (r *resource) notFound(name string) error {
	return apierrors.NewNotFound(r.gvr.GroupResource(), name)
}

// enter begins a request. Its result ends it.
func (r *resource) enter(ctx context.Context, verb, name string) (leave func(*error), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	time.Sleep(r.s.Delay)
	if r.s.Before != nil {
		if err := r.s.Before(verb, r.gvr.Resource, name); err != nil {
			return nil, err
		}
	}
	r.s.mu.Lock()
	r.s.calls = append(r.s.calls, verb+" "+r.gvr.Resource+"/"+name)
	k8s.NoteRequest(ctx, k8s.Request{Verb: noted(verb), Object: r.gvr.Resource + "/" + name, Namespace: r.ns})
	return func(failed *error) {
		r.s.mu.Unlock()
		if r.s.After != nil && *failed == nil {
			*failed = r.s.After(verb, r.gvr.Resource, name)
		}
	}, nil
}

// noted returns the verb as a client notes it. Only apply patches are sent while deploys are counted.
func noted(verb string) string {
	if verb == "patch" {
		return "apply"
	}
	return verb
}

func (r *resource) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (got *unstructured.Unstructured, err error) {
	leave, err := r.enter(ctx, "get", name)
	if err != nil {
		return nil, err
	}
	defer leave(&err)
	o, ok := r.s.objects[r.key(name)]
	if !ok {
		return nil, r.notFound(name)
	}
	return o.live.DeepCopy(), nil
}

func (r *resource) List(ctx context.Context, opts metav1.ListOptions) (got *unstructured.UnstructuredList, err error) {
	leave, err := r.enter(ctx, "list", "")
	if err != nil {
		return nil, err
	}
	defer leave(&err)
	sel, err := labels.Parse(opts.LabelSelector)
	if err != nil {
		return nil, err
	}
	list := &unstructured.UnstructuredList{}
	for key, o := range r.s.objects {
		if !strings.HasPrefix(key, r.gvr.Resource+"/") || r.ns != "" && r.ns != o.live.GetNamespace() {
			continue
		}
		if sel.Matches(labels.Set(o.live.GetLabels())) {
			list.Items = append(list.Items, *o.live.DeepCopy())
		}
	}
	return list, nil
}

func (r *resource) Create(ctx context.Context, u *unstructured.Unstructured, opts metav1.CreateOptions, _ ...string) (got *unstructured.Unstructured, err error) {
	leave, err := r.enter(ctx, "create", u.GetName())
	if err != nil {
		return nil, err
	}
	defer leave(&err)
	if r.s.objects[r.key(u.GetName())] != nil {
		return nil, apierrors.NewAlreadyExists(r.gvr.GroupResource(), u.GetName())
	}
	made := u.DeepCopy()
	made.SetNamespace(r.ns)
	made.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: opts.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate}})
	if err := r.check(nil, made); err != nil || len(opts.DryRun) > 0 {
		return made, err
	}
	r.s.store(r.gvr.Resource, made, nil)
	return r.s.objects[r.key(u.GetName())].live.DeepCopy(), nil
}

func (r *resource) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, _ ...string) (got *unstructured.Unstructured, err error) {
	leave, err := r.enter(ctx, "patch", name)
	if err != nil {
		return nil, err
	}
	defer leave(&err)
	if pt == types.ApplyPatchType {
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
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
		if theirs := conflict(old, opts, patch); theirs != nil {
			return nil, theirs
		}
		next, last = clonedMap(old.live.Object), clonedMap(patch)
		if old.last == nil { // another program's: it goes on to own what it has set
			dropKnown(last, old.live.Object)
		}
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
	if len(opts.DryRun) > 0 {
		return u.DeepCopy(), nil
	}
	if old == nil || !reflect.DeepEqual(old.live.Object, next) {
		r.s.store(r.gvr.Resource, u, last)
		if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
			delete(r.s.objects, r.key(name))
		}
	}
	return u.DeepCopy(), nil
}

// conflict refuses an apply, without force, that would change a string in the data of a ConfigMap that another program has created. Of the
// ownership of fields, the fake knows no more.
func conflict(old *object, opts metav1.PatchOptions, patch map[string]any) error {
	force := opts.Force != nil && *opts.Force
	owners := old.live.GetManagedFields()
	if force || len(owners) == 0 || owners[0].Manager == opts.FieldManager {
		return nil
	}
	was, _, _ := unstructured.NestedStringMap(old.live.Object, "data")
	next, _, _ := unstructured.NestedStringMap(patch, "data")
	for key, value := range next {
		if theirs, ok := was[key]; ok && theirs != value {
			cause := metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data." + key, Message: fmt.Sprintf("conflict with %q", owners[0].Manager)}
			return apierrors.NewApplyConflict([]metav1.StatusCause{cause}, "conflict")
		}
	}
	return nil
}

// check is the fake's validation: namespaces exist, keys of ConfigMaps have no blanks, container ports are positive,
// selectors do not change.
func (r *resource) check(old *object, u *unstructured.Unstructured) error {
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
	for _, path := range [][]string{{"spec", "containers"}, {"spec", "template", "spec", "containers"}} {
		containers, _, _ := unstructured.NestedSlice(u.Object, path...)
		for _, c := range containers {
			c, _ := c.(map[string]any)
			ports, _, _ := unstructured.NestedSlice(c, "ports")
			for _, p := range ports {
				p, _ := p.(map[string]any)
				if n, _, _ := unstructured.NestedInt64(p, "containerPort"); n <= 0 {
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

func (r *resource) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, _ ...string) (err error) {
	leave, err := r.enter(ctx, "delete", name)
	if err != nil {
		return err
	}
	defer leave(&err)
	o, ok := r.s.objects[r.key(name)]
	if !ok {
		return r.notFound(name)
	}
	if p := opts.Preconditions; p != nil {
		if otherThan(p.UID, o.live.GetUID()) || otherThan(p.ResourceVersion, o.live.GetResourceVersion()) {
			return apierrors.NewConflict(r.gvr.GroupResource(), name, fmt.Errorf("a precondition does not match"))
		}
	}
	if len(o.live.GetFinalizers()) > 0 {
		now := metav1.Now()
		o.live.SetDeletionTimestamp(&now)
		return nil
	}
	delete(r.s.objects, r.key(name))
	return nil
}

// Delete is a deploy.Deleter.
func (s *Server) Delete(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string, opts metav1.DeleteOptions) (gone bool, err error) {
	r := &resource{s: s, gvr: gvr, ns: namespace}
	if err := r.Delete(ctx, name, opts); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[r.key(name)] == nil, nil
}

// Deletions returns the names that were deleted, in order.
func (s *Server) Deletions() []string {
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

// Count returns the number of requests with a verb.
func (s *Server) Count(verb string) int {
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

// merge lays patch over m; null removes a key if nulls is set.
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

// dropKnown removes from m the fields that known has, too.
func dropKnown(m, known map[string]any) {
	for k, v := range m {
		inner, isMap := v.(map[string]any)
		was, wasMap := known[k].(map[string]any)
		if isMap && wasMap {
			dropKnown(inner, was)
		}
		if _, ok := known[k]; ok && len(inner) == 0 {
			delete(m, k)
		}
	}
}

// dropGone removes from m the fields that last has and next lacks, and maps that are empty then.
func dropGone(m, last, next map[string]any) {
	for k, v := range last {
		before, wasMap := v.(map[string]any)
		is, isMap := m[k].(map[string]any)
		after, has := next[k]
		if wasMap && isMap {
			inner, _ := after.(map[string]any)
			dropGone(is, before, inner)
		}
		if !has && len(is) == 0 {
			delete(m, k)
		}
	}
}

// otherThan reports whether a precondition asks for another value.
func otherThan[T comparable](want *T, is T) bool { return want != nil && *want != is }
