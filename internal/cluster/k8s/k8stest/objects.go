package k8stest

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// SetPod adds a pod, or changes it. A pod of the same name with another UID is reported as deleted first.
func (f *Fake) SetPod(e k8s.PodEvent) {
	key := e.Pod.Key()
	if old, ok := f.pods.get(key); ok && old.Pod.UID != e.Pod.UID {
		f.DeletePod(e.Pod.Namespace, e.Pod.Name)
	}
	f.pods.set(key, e)
}

// DeletePod removes a pod, if there is one of this name, and closes the connections to it.
func (f *Fake) DeletePod(namespace, name string) {
	f.mu.Lock()
	if gone, ok := f.gone[namespace+"/"+name]; ok {
		close(gone)
		delete(f.gone, namespace+"/"+name)
	}
	f.mu.Unlock()
	f.pods.remove(namespace + "/" + name)
}

// SetService adds a Service, or changes it.
func (f *Fake) SetService(e k8s.ServiceEvent) {
	f.services.set(e.Service.Namespace+"/"+e.Service.Name, e)
}

// DeleteService removes a Service, if there is one of this name.
func (f *Fake) DeleteService(namespace, name string) {
	f.services.remove(namespace + "/" + name)
}

// AddEvent adds an event, or repeats the one of the same UID.
func (f *Fake) AddEvent(e k8s.KubeEvent) { f.events.set(e.Object.Namespace+"/"+e.UID, e) }

// SetObject adds an object of the given kind, or changes it. Of its metadata, it sets only the identity and the labels.
func (f *Fake) SetObject(apiVersion, kind string, e k8s.ObjectEvent) {
	key := e.Status.Namespace + "/" + e.Status.Name
	m, _ := f.metadataFeed(apiVersion, kind).get(key)
	m.ID, m.UID, m.Labels = e.Status.ObjectID, e.Status.UID, e.Labels
	f.metadataFeed(apiVersion, kind).set(key, m)
	f.objectFeed(apiVersion, kind).set(key, e)
}

// SetMetadata sets the metadata of an object of the given kind.
func (f *Fake) SetMetadata(apiVersion string, e k8s.MetadataEvent) {
	f.metadataFeed(apiVersion, e.ID.Kind).set(e.ID.Namespace+"/"+e.ID.Name, e)
}

// DeleteObject removes an object and its metadata, if there is one of this name.
func (f *Fake) DeleteObject(apiVersion, kind, namespace, name string) {
	f.metadataFeed(apiVersion, kind).remove(namespace + "/" + name)
	f.objectFeed(apiVersion, kind).remove(namespace + "/" + name)
}

func (f *Fake) metadataFeed(apiVersion, kind string) *feed[k8s.MetadataEvent] {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := objectKind{apiVersion, kind}
	if f.metadata[k] == nil {
		f.metadata[k] = newFeed(func() k8s.MetadataEvent { return k8s.MetadataEvent{Synced: true} },
			func(e k8s.MetadataEvent) k8s.MetadataEvent { e.Deleted = true; return e })
	}
	return f.metadata[k]
}

func (f *Fake) objectFeed(apiVersion, kind string) *feed[k8s.ObjectEvent] {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := objectKind{apiVersion, kind}
	if f.objects[k] == nil {
		f.objects[k] = newFeed(func() k8s.ObjectEvent { return k8s.ObjectEvent{Synced: true} },
			func(e k8s.ObjectEvent) k8s.ObjectEvent { e.Deleted = true; return e })
	}
	return f.objects[k]
}

// SetOwner adds an object that owns others. parent is the UID of its controller, or empty.
func (f *Fake) SetOwner(ref k8s.OwnerRef, parent string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owners[ref.UID] = ownerEntry{ref, parent}
}

// OwnerChain implements k8s.Interface.
func (f *Fake) OwnerChain(ctx context.Context, req k8s.OwnerRequest) ([]k8s.OwnerRef, error) {
	ref := req.Ref
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.up(); err != nil {
		return nil, fmt.Errorf("find owner %s/%s: %w", ref.Kind, ref.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var chain []k8s.OwnerRef
	for uid := ref.UID; uid != ""; {
		o, ok := f.owners[uid]
		if !ok {
			break
		}
		chain = append(chain, o.ref)
		uid = o.parent
	}
	return chain, nil
}

// RemovePod implements k8s.Interface. The pod is gone at once.
func (f *Fake) RemovePod(ctx context.Context, req k8s.RemovePodRequest) error {
	if err := f.reach(ctx, req.Namespace, req.Name); err != nil {
		return fmt.Errorf("delete pod %s: %w", req.Name, err)
	}
	e, ok := f.pods.get(f.namespace(req.Namespace) + "/" + req.Name)
	if !ok || e.Pod.UID != req.UID {
		return fmt.Errorf("delete pod %s: %w", req.Name, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, req.Name))
	}
	own := slices.Contains(req.Owners, req.UID)
	for _, ref := range e.Owners {
		chain, err := f.OwnerChain(ctx, k8s.OwnerRequest{Namespace: req.Namespace, Ref: ref})
		if err != nil {
			return err
		}
		own = own || slices.ContainsFunc(chain, func(o k8s.OwnerRef) bool { return slices.Contains(req.Owners, o.UID) })
	}
	if !own {
		return fmt.Errorf("delete pod %s: %w", req.Name, k8s.ErrForeignPod)
	}
	f.DeletePod(f.namespace(req.Namespace), req.Name)
	return nil
}

// filter returns the match function of a request. An invalid selector is reported to the request's OnError and matches
// nothing.
func filter(req k8s.WatchRequest) func(namespace, name string, set map[string]string) bool {
	sel, err := labels.Parse(req.Selector)
	if err != nil {
		if req.OnError != nil {
			req.OnError(fmt.Errorf("watch: %w", err))
		}
		sel = labels.Nothing()
	}
	return func(namespace, name string, set map[string]string) bool {
		inside := len(req.Namespaces) == 0 || namespace == "" || slices.Contains(req.Namespaces, namespace)
		return inside && (req.Name == "" || req.Name == name) && sel.Matches(labels.Set(set))
	}
}

// WatchPods implements k8s.Interface.
func (f *Fake) WatchPods(ctx context.Context, req k8s.WatchRequest, fn func(k8s.PodEvent)) error {
	match := filter(req)
	return f.pods.watch(ctx, func(_ string, e k8s.PodEvent) bool { return match(e.Pod.Namespace, e.Pod.Name, e.Labels) }, req.OnTrouble, fn)
}

// WatchServices implements k8s.Interface.
func (f *Fake) WatchServices(ctx context.Context, req k8s.WatchRequest, fn func(k8s.ServiceEvent)) error {
	match := filter(req)
	return f.services.watch(ctx, func(_ string, e k8s.ServiceEvent) bool { return match(e.Service.Namespace, e.Service.Name, e.Labels) }, req.OnTrouble, fn)
}

// WatchEvents implements k8s.Interface.
func (f *Fake) WatchEvents(ctx context.Context, req k8s.WatchRequest, fn func(k8s.KubeEvent)) error {
	match := filter(req)
	return f.events.watch(ctx, func(_ string, e k8s.KubeEvent) bool { return match(e.Object.Namespace, e.Object.Name, nil) }, req.OnTrouble, fn)
}

// WatchObjects implements k8s.Interface. Every kind is served.
func (f *Fake) WatchObjects(ctx context.Context, apiVersion, kind string, req k8s.WatchRequest, fn func(k8s.ObjectEvent)) error {
	match := filter(req)
	return f.objectFeed(apiVersion, kind).watch(ctx, func(_ string, e k8s.ObjectEvent) bool {
		return e.Status.Namespace == "" && req.Name == "" || match(e.Status.Namespace, e.Status.Name, e.Labels)
	}, req.OnTrouble, fn)
}

// WatchMetadata implements k8s.Interface. Every kind is served; who manages which fields is as it was set.
func (f *Fake) WatchMetadata(ctx context.Context, apiVersion, kind, _ string, req k8s.WatchRequest, fn func(k8s.MetadataEvent)) error {
	match := filter(req)
	return f.metadataFeed(apiVersion, kind).watch(ctx, func(_ string, e k8s.MetadataEvent) bool {
		return e.ID.Namespace == "" && req.Name == "" || match(e.ID.Namespace, e.ID.Name, e.Labels)
	}, req.OnTrouble, fn)
}

// RunningPod makes a pod with one running, ready container called "main", for tests that need any pod.
func RunningPod(namespace, name string) k8s.PodEvent {
	return k8s.PodEvent{Pod: model.Pod{
		Namespace: namespace, Name: name, UID: "uid-" + name, Phase: "Running", Status: "Running", Ready: true,
		Containers: []model.Container{{
			Name: "main", ID: "id-" + name, Runtime: "containerd", State: model.ContainerRunning, Ready: true,
		}},
	}}
}
