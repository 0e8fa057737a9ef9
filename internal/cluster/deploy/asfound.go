package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/hone-dev/hone/internal/base/yamltext"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// The state of an object before hone took it over is a note in the ledger, so that
// hone can give the object back as it was found. Where that state is missing, the object is given back as it was applied last. The
// values of a Secret are not stored.

// asFound is an adopted object as it was found, and the fields that hone has written since.
type asFound struct {
	Object *unstructured.Unstructured `json:"object"`
	// Written are the fields that hone has owned at any time since, as JSON of the API server.
	Written json.RawMessage `json:"written,omitempty"`
}

// RememberFound stores an object of others as it is before hone takes it over.
func (m Memory) RememberFound(live *unstructured.Unstructured) error {
	if isSecret(live) {
		live = live.DeepCopy()
		for field := range secretValues(live) {
			delete(live.Object, field)
		}
	}
	if err := m.storeFound(IDOf(live), asFound{Object: live}); err != nil {
		return fmt.Errorf("store how %s was found: %w", title(IDOf(live)), err)
	}
	return nil
}

// RememberWritten adds the fields that hone owns in an adopted live object to the stored set of fields that it has written.
func (m Memory) RememberWritten(live *unstructured.Unstructured) error {
	f := m.found(live)
	if f == nil {
		return nil
	}
	all := fieldSet(f.Written).Union(appliedBy(FieldManager, live))
	if all.Equals(fieldSet(f.Written)) {
		return nil
	}
	raw, err := all.ToJSON()
	if err == nil {
		f.Written = raw
		err = m.storeFound(IDOf(live), *f)
	}
	if err != nil {
		return fmt.Errorf("store what was written to %s: %w", title(IDOf(live)), err)
	}
	return nil
}

func (m Memory) storeFound(id model.ObjectID, f asFound) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return m.SetNote(ledger.Found, id, raw)
}

// found returns the record of how the live object was found; nil if there is none, or if it describes another object of the same
// name.
func (m Memory) found(live *unstructured.Unstructured) *asFound {
	raw := m.Note(ledger.Found, IDOf(live))
	f := asFound{}
	if raw == nil || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	if f.Object == nil || f.Object.GetUID() != live.GetUID() {
		return nil
	}
	return &f
}

// restore gives the fields that hone has written to an adopted object the values that they had when it was found, and removes the
// fields that the object did not have. A field that others have written since stays as it is. It returns the updated object, and
// the former owners of the restored fields. If the found state is unknown, it restores nothing and returns nil owners.
func (r *deleteRun) restore(ctx context.Context, t target, live *unstructured.Unstructured) (after *unstructured.Unstructured, owners []metav1.ManagedFieldsEntry, err error) {
	if r.req.Found == nil {
		return live, nil, nil
	}
	was := r.req.Found.found(live)
	if was == nil {
		return live, nil, nil
	}
	uid := live.GetUID()
	for attempt := 1; ; attempt++ {
		fields := ownAlone(live, fieldSet(was.Written))
		part, _ := partOf(valuesAsFound(was.Object, live), fields).(map[string]any)
		after, err = r.applyAs(ctx, t, live, FieldManager, part)
		if err == nil {
			return after, ownersAmong(was.Object, fields), nil
		}
		if !apierrors.IsConflict(err) || attempt == adoptAttempts {
			return nil, nil, err
		}
		err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
			live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
			return err
		})
		if err != nil || live.GetUID() != uid {
			return live, nil, err
		}
	}
}

// applyAs applies a declaration that has only the given fields to a live object, in the name of a field manager: that manager loses
// all its other fields. An object that was made again meanwhile is a conflict.
func (r *deleteRun) applyAs(ctx context.Context, t target, live *unstructured.Unstructured, manager string, fields map[string]any) (got *unstructured.Unstructured, err error) {
	body := &unstructured.Unstructured{Object: fields}
	if fields == nil {
		body.Object = map[string]any{}
	}
	body.SetAPIVersion(live.GetAPIVersion())
	body.SetKind(live.GetKind())
	body.SetName(live.GetName())
	body.SetNamespace(live.GetNamespace())
	body.SetUID(live.GetUID())
	raw, err := body.MarshalJSON()
	if err != nil {
		return nil, err
	}
	err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		got, err = t.ri.Patch(ctx, t.id.Name, types.ApplyPatchType, yamltext.Readable(raw), metav1.PatchOptions{FieldManager: manager})
		return err
	})
	return got, err
}

// valuesAsFound returns the object to take values from: as it was found, with the values of a Secret as they are, since they were not
// stored.
func valuesAsFound(found, live *unstructured.Unstructured) map[string]any {
	if !isSecret(live) {
		return found.Object
	}
	out := runtime.DeepCopyJSON(found.Object)
	for field := range secretValues(live) {
		out[field] = live.Object[field]
	}
	return out
}

// ownAlone returns the fields that hone owns in a live object, or has written before, and that no other field manager owns.
func ownAlone(live *unstructured.Unstructured, written *fieldpath.Set) *fieldpath.Set {
	mine := written.Union(appliedBy(FieldManager, live))
	for _, o := range ownersOf(live, FieldManager) {
		if !o.mine {
			mine = mine.Difference(o.fields)
		}
	}
	return mine
}

// appliedBy returns the fields that a manager has applied to an object.
func appliedBy(manager string, u *unstructured.Unstructured) *fieldpath.Set {
	out := fieldpath.NewSet()
	for _, m := range u.GetManagedFields() {
		if m.Manager == manager && isApply(m) && m.FieldsV1 != nil {
			out = out.Union(fieldSet(m.FieldsV1.GetRawBytes()))
		}
	}
	return out
}

// isApply reports whether a manager owns the fields of an entry because it has applied the object itself.
func isApply(m metav1.ManagedFieldsEntry) bool {
	return m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
}

// fieldSet decodes a set of fields; one that cannot be read is empty.
func fieldSet(raw []byte) *fieldpath.Set {
	out := fieldpath.NewSet()
	if len(raw) > 0 && out.FromJSON(bytes.NewReader(raw)) != nil {
		return fieldpath.NewSet()
	}
	return out
}

// ownersAmong returns the owners of some fields of an object. It is never nil.
func ownersAmong(u *unstructured.Unstructured, fields *fieldpath.Set) []metav1.ManagedFieldsEntry {
	out := []metav1.ManagedFieldsEntry{}
	for _, m := range u.GetManagedFields() {
		if m.Subresource != "" || m.FieldsV1 == nil {
			continue
		}
		raw, err := fieldSet(m.FieldsV1.GetRawBytes()).Intersection(fields).ToJSON()
		if err == nil && !fieldSet(raw).Empty() {
			m.FieldsV1 = metav1.NewFieldsV1(string(raw))
			out = append(out, m)
		}
	}
	return out
}

// writer identifies an entry of the managed fields.
type writer struct {
	manager, subresource, version string
	operation                     metav1.ManagedFieldsOperationType
}

func writerOf(m metav1.ManagedFieldsEntry) writer {
	return writer{m.Manager, m.Subresource, m.APIVersion, m.Operation}
}

// withOwners returns entries, the owners of an object's fields, with more owners added.
func withOwners(entries, more []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	out := slices.Clone(entries)
	for _, o := range more {
		i := slices.IndexFunc(out, func(m metav1.ManagedFieldsEntry) bool {
			return m.FieldsV1 != nil && writerOf(m) == writerOf(o)
		})
		if i < 0 {
			out = append(out, o)
			continue
		}
		raw, err := fieldSet(out[i].FieldsV1.GetRawBytes()).Union(fieldSet(o.FieldsV1.GetRawBytes())).ToJSON()
		if err == nil { // they only name the writers of fields
			out[i].FieldsV1 = metav1.NewFieldsV1(string(raw))
		}
	}
	return out
}

// partOf returns the part of a value that has the given fields; nil if there is none. Entries of a list are found by their keys.
func partOf(v any, fields *fieldpath.Set) any {
	switch v := v.(type) {
	case map[string]any:
		return partOfMap(v, fields)
	case []any:
		return partOfList(v, fields)
	}
	return nil
}

// partOfMap is partOf for a map. A member of the set is a field with all of its content. If the set also has children of that
// member, the member stands only for the existence of the field, and the children name the parts of its content.
func partOfMap(v map[string]any, fields *fieldpath.Set) any {
	out := map[string]any{}
	for e := range fields.Members.All() {
		if e.FieldName == nil {
			continue
		}
		if has, ok := v[*e.FieldName]; ok {
			if _, more := fields.Children.Get(e); more {
				has = emptied(has)
			}
			out[*e.FieldName] = runtime.DeepCopyJSONValue(has)
		}
	}
	for e := range fields.Children.All() {
		if e.FieldName == nil {
			continue
		}
		below, _ := fields.Children.Get(e)
		if part := partOf(v[*e.FieldName], below); part != nil {
			out[*e.FieldName] = part
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// emptied returns a map or a list without its content, which other fields name; anything else is as it is.
func emptied(v any) any {
	switch v.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	}
	return v
}

func partOfList(v []any, fields *fieldpath.Set) any {
	var out []any
	for _, item := range v { // in their order
		for e := range fields.Members.All() {
			if e.Value != nil && value.Equals(*e.Value, value.NewValueInterface(item)) {
				out = append(out, runtime.DeepCopyJSONValue(item))
			}
		}
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if part := partOfEntry(entry, fields); part != nil {
			out = append(out, part)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// partOfEntry returns the part of an entry of a list whose entries have keys, with its keys.
func partOfEntry(entry map[string]any, fields *fieldpath.Set) map[string]any {
	keys := func(e fieldpath.PathElement) map[string]any {
		if e.Key == nil {
			return nil
		}
		out := map[string]any{}
		for _, k := range *e.Key {
			has, ok := entry[k.Name]
			if !ok || !value.Equals(k.Value, value.NewValueInterface(has)) {
				return nil
			}
			out[k.Name] = has
		}
		return out
	}
	for _, e := range slices.Collect(fields.Children.All()) { // these sequences cannot be left early
		out := keys(e)
		if out == nil {
			continue
		}
		below, _ := fields.Children.Get(e)
		if part, ok := partOf(entry, below).(map[string]any); ok {
			for k, v := range part {
				out[k] = v
			}
		} else if !fields.Members.Has(e) {
			return nil
		}
		return out
	}
	for _, e := range slices.Collect(fields.Members.All()) {
		if out := keys(e); out != nil {
			return out
		}
	}
	return nil
}
