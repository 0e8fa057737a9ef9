package deploy

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// createNew applies an object that Prefetch has not found, with one request: without looking for it first. It returns nil if the object is
// there after all, since others have made it in the meantime, or if the API server refuses it. The caller then goes the ordinary way, from
// the live object on.
//
// Nothing of an object of others is lost: the request takes no field from them, and the fields that it has added are removed again.
func (r *applyRun) createNew(ctx context.Context, t target, desired *unstructured.Unstructured) *unstructured.Unstructured {
	u, err := r.marked(desired)
	if err != nil {
		return nil
	}
	manager := r.a.managerFor(u, nil)
	got, err := r.patch(ctx, t, u, manager, false)
	if err != nil {
		return nil
	}
	if !ofOthers(got, manager) {
		return got
	}
	nothing := &unstructured.Unstructured{Object: map[string]any{}}
	nothing.SetGroupVersionKind(u.GroupVersionKind())
	nothing.SetName(u.GetName())
	nothing.SetNamespace(u.GetNamespace())
	if _, err := r.patch(ctx, t, nothing, manager, true); err != nil {
		logstore.Warnf(r.req.Logger, "WARNING: %s was created by others at this moment, and still has hone's marks: %v", title(t.id), err)
	}
	return nil
}

// ofOthers reports whether anybody else has fields of an object, apart from its controllers: then the object was there before the
// apply that returned it.
func ofOthers(u *unstructured.Unstructured, manager string) bool {
	for _, m := range u.GetManagedFields() {
		if m.Manager != manager && m.Subresource == "" {
			return true
		}
	}
	return false
}
