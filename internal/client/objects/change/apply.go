package change

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hone-dev/hone/internal/client/objects"
)

// lastApplied is the annotation in which apply records the applied configuration, so that fields removed from the file are
// also removed from the object. Objects that were created in another way do not have it; for these, apply only sets fields.
const lastApplied = "hone.dev/last-applied-configuration"

// Apply creates an object, or changes an existing object to the wanted state.
func (w *Writer) Apply(ctx context.Context, wanted *unstructured.Unstructured) error {
	k, err := w.Client.KindOf(wanted.GroupVersionKind())
	if err != nil {
		return err
	}
	was, err := w.Client.Get(ctx, k, wanted.GetName())
	if apierrors.IsNotFound(err) {
		return w.applyNew(ctx, k, wanted)
	}
	if err != nil {
		return err
	}
	patch, err := applyPatch(was, wanted)
	if err != nil {
		return fmt.Errorf("apply %s: %w", k.Ref(wanted.GetName()), err)
	}
	if string(patch) == "{}" {
		return w.done(k, was, "unchanged")
	}
	if !k.Can("patch") {
		return readOnly(k)
	}
	if w.DryRun == DryRunClient {
		return w.done(k, wanted, "configured")
	}
	is, err := w.Client.Patch(ctx, k, wanted.GetName(), types.MergePatchType, patch, w.patching(), false)
	if err != nil {
		return err
	}
	what := "configured"
	if same(was.Object, is.Object) {
		what = "unchanged"
	}
	return w.done(k, is, what)
}

func (w *Writer) applyNew(ctx context.Context, k objects.Kind, wanted *unstructured.Unstructured) error {
	u := wanted.DeepCopy()
	if err := remember(u, wanted); err != nil {
		return err
	}
	made, err := w.create(ctx, k, u)
	if err != nil {
		return err
	}
	return w.done(k, made, "created")
}

// remember records in an object the configuration that was applied to it.
func remember(u, wanted *unstructured.Unstructured) error {
	text, err := json.Marshal(wanted.Object)
	if err != nil {
		return fmt.Errorf("read the object: %w", err)
	}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[lastApplied] = string(text)
	u.SetAnnotations(annotations)
	return nil
}

// Remember records in an object its current state, as apply does: a later apply removes fields that are missing from its
// file. Fields that belong to the session are not recorded.
func Remember(u *unstructured.Unstructured) error {
	wanted := u.DeepCopy()
	for _, name := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(wanted.Object, "metadata", name)
	}
	unstructured.RemoveNestedField(wanted.Object, "status")
	annotations := wanted.GetAnnotations()
	delete(annotations, lastApplied)
	wanted.SetAnnotations(annotations)
	return remember(u, wanted)
}

// applyPatch returns the three-way merge patch between the last applied configuration, the wanted one and the current object;
// "{}" if nothing changes.
func applyPatch(was, wanted *unstructured.Unstructured) ([]byte, error) {
	before, remembers := was.GetAnnotations()[lastApplied]
	next := wanted.DeepCopy()
	if remembers {
		if err := remember(next, wanted); err != nil {
			return nil, err
		}
	}
	modified, err := json.Marshal(next.Object)
	if err != nil {
		return nil, err
	}
	current, err := json.Marshal(was.Object)
	if err != nil {
		return nil, err
	}
	if before == "" {
		before = "{}"
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(before), modified, current)
}

// same reports whether an object is unchanged except for its version.
func same(a, b map[string]any) bool {
	plain := func(o map[string]any) map[string]any {
		u := (&unstructured.Unstructured{Object: o}).DeepCopy()
		u.SetResourceVersion("")
		u.SetManagedFields(nil)
		return u.Object
	}
	return reflect.DeepEqual(plain(a), plain(b))
}
