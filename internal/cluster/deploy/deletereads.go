package deploy

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// locus is where objects are: their kind, in a namespace unless that is empty.
type locus struct {
	resource  schema.GroupVersionResource
	namespace string
}

func locusOf(m *meta.RESTMapping, ref ObjectRef) locus {
	s := locus{resource: m.Resource}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		s.namespace = defaultNamespace(ref.Namespace)
	}
	return s
}

// outline completes the stub of an object there, so that it is found among read objects.
func (s locus) outline(stub *unstructured.Unstructured, m *meta.RESTMapping) *unstructured.Unstructured {
	stub.SetGroupVersionKind(m.GroupVersionKind)
	stub.SetNamespace(s.namespace)
	return stub
}

// stubOf returns an object with the kind and the name of a reference.
func stubOf(ref ObjectRef) *unstructured.Unstructured {
	stub := &unstructured.Unstructured{Object: map[string]any{}}
	stub.SetGroupVersionKind(groupKind(ref.ObjectID).WithVersion(""))
	stub.SetName(ref.Name)
	return stub
}

// readAll reads the objects of the project with few requests. The objects that the result lacks are read one by one.
func (r *deleteRun) readAll(ctx context.Context, refs []ObjectRef) *liveCache {
	read := newLiveCache()
	if r.req.Project == "" {
		return read
	}
	var stubs []*unstructured.Unstructured
	mappings := map[schema.GroupKind]*meta.RESTMapping{} // nil for kinds that cannot be looked up
	for _, ref := range refs {
		kind, stub := groupKind(ref.ObjectID), stubOf(ref)
		m, known := mappings[kind]
		if !known {
			m, _ = r.a.mapping(ctx, stub) // find says why it cannot be looked up
			mappings[kind] = m
		}
		if m != nil {
			stub = locusOf(m, ref).outline(stub, m)
			stub.SetLabels(map[string]string{LabelProject: r.req.Project})
			stubs = append(stubs, stub)
		}
	}
	var pods sync.WaitGroup
	for namespace := range r.podNamespaces(stubs) {
		pods.Go(func() { _, _ = r.readPods(ctx, namespace, ManagedSelector, podsAge) }) // podsOf asks again after an error
	}
	_ = bounded(ctx, r.req.Timeout, func(ctx context.Context) error { return r.a.prefetch(ctx, read, stubs, allRecorded) }) // find says why it cannot be read
	pods.Wait()
	return read
}

// podNamespaces returns the namespaces whose pods matter: those with workloads. podsOf needs them as soon as it knows the workloads.
func (r *deleteRun) podNamespaces(stubs []*unstructured.Unstructured) map[string]bool {
	out := map[string]bool{}
	for _, u := range stubs {
		if r.req.Pods && len(templatePaths[u.GetKind()]) > 0 && u.GetNamespace() != "" {
			out[u.GetNamespace()] = true
		}
	}
	return out
}

// deleteReads are the reads that the nodes of a deletion share.
type deleteReads struct {
	// alike is the number of objects in each locus. It is written before the nodes run.
	alike map[locus]int
	names sharedReads[locus, map[string]*metav1.PartialObjectMetadata]
	pods  sharedReads[podsAt, []*unstructured.Unstructured]

	mu sync.Mutex
	// single are the places whose objects have to be read one by one. Guarded by mu.
	single map[locus]bool
}

// podsAt are the pods of a namespace that a selector matches.
type podsAt struct{ namespace, selector string }

const (
	// podsAge is the age up to which a list of pods says which ones a workload has that is about to be deleted.
	podsAge = time.Second
	// awaitedAge is the age up to which a list says which awaited objects still exist. An older one would be right, too, about those that it
	// lacks, because an object does not come back; it would be late about the others.
	awaitedAge = podsAge / 20
)

func (d *deleteReads) count(all []found) {
	d.alike, d.single = map[locus]int{}, map[locus]bool{}
	for _, f := range all {
		d.alike[f.at]++
	}
}

// awaited reads an object of a kind that is awaited: the metadata of all of its kind and namespace at once where several are awaited and
// the metadata names the blockers.
func (r *deleteRun) awaited(ctx context.Context, t target, at locus, was *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if r.apart(at) {
		return t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
	}
	all, err := r.reads.names.read(ctx, at, awaitedAge, func(ctx context.Context) (map[string]*metav1.PartialObjectMetadata, error) {
		return r.listNames(ctx, at)
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || all == nil:
		r.reads.mu.Lock()
		r.reads.single[at] = true
		r.reads.mu.Unlock()
		return t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
	case all[t.id.Name] == nil:
		return nil, apierrors.NewNotFound(at.resource.GroupResource(), t.id.Name)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(all[t.id.Name])
	if err != nil {
		return nil, err
	}
	live := &unstructured.Unstructured{Object: object}
	live.SetGroupVersionKind(was.GroupVersionKind())
	return live, nil
}

// apart reports whether the objects of a locus are read one by one.
func (r *deleteRun) apart(at locus) bool {
	switch at.resource.GroupResource() {
	case schema.GroupResource{Resource: "namespaces"}, schema.GroupResource{Resource: "pods"}: // their status names blockers, too
		return true
	}
	r.reads.mu.Lock()
	defer r.reads.mu.Unlock()
	return r.a.names == nil || r.reads.alike[at] < 2 || r.reads.single[at]
}

// listNames returns the metadata of the objects of a locus by name; nil if there are too many.
func (r *deleteRun) listNames(ctx context.Context, at locus) (map[string]*metav1.PartialObjectMetadata, error) {
	list, err := r.a.names.Resource(at.resource).Namespace(at.namespace).List(ctx, metav1.ListOptions{Limit: namesLimit})
	if err != nil || list.GetContinue() != "" {
		return nil, err
	}
	all := make(map[string]*metav1.PartialObjectMetadata, len(list.Items))
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all, nil
}

// readPods lists the pods of a namespace that a selector matches, together with the others who want to know it.
func (r *deleteRun) readPods(ctx context.Context, namespace, selector string, age time.Duration) ([]*unstructured.Unstructured, error) {
	return r.reads.pods.read(ctx, podsAt{namespace, selector}, age, func(ctx context.Context) ([]*unstructured.Unstructured, error) {
		return r.list(ctx, podResource, namespace, selector)
	})
}
