package deploytest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Update replaces an object that has the same resource version.
func (r *resource) Update(ctx context.Context, u *unstructured.Unstructured, _ metav1.UpdateOptions, _ ...string) (got *unstructured.Unstructured, err error) {
	leave, err := r.enter(ctx, "update", u.GetName())
	if err != nil {
		return nil, err
	}
	defer leave(&err)
	old := r.s.objects[r.key(u.GetName())]
	if old == nil {
		return nil, r.notFound(u.GetName())
	}
	if u.GetResourceVersion() != old.live.GetResourceVersion() {
		return nil, apierrors.NewConflict(r.gvr.GroupResource(), u.GetName(), fmt.Errorf("the object has been modified"))
	}
	if err := r.check(old, u); err != nil {
		return nil, err
	}
	r.s.store(r.gvr.Resource, u.DeepCopy(), nil)
	return r.s.objects[r.key(u.GetName())].live.DeepCopy(), nil
}

// Secrets returns the Secrets of a namespace.
func (s *Server) Secrets(namespace string) k8s.Secrets {
	return secrets{&resource{s: s, gvr: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, ns: namespace}}
}

type secrets struct{ *resource }

// ListMetadata implements k8s.Secrets. Of the field selectors, it knows type=….
func (s secrets) ListMetadata(ctx context.Context, opts metav1.ListOptions) ([]metav1.PartialObjectMetadata, error) {
	selector, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return nil, err
	}
	list, err := s.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	var found []metav1.PartialObjectMetadata
	for _, u := range list.Items {
		if kind, _ := u.Object["type"].(string); selector.Matches(fields.Set{"type": kind}) {
			found = append(found, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(),
			}})
		}
	}

	return found, nil
}
