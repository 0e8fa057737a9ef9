package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/jsonpath"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// A declaration may refer to fields of other objects. The object that it refers to is applied first; the value is read when it is
// there, and the hash of the applied object includes it.

// errNoField is the cause if a field that is referred to has no value yet, and may get one.
var errNoField = errors.New("it has no value yet")

// fieldRefsOf returns the references in an object, without repetitions and in a fixed order.
func fieldRefsOf(u *unstructured.Unstructured) (out []model.FieldRef, err error) {
	eachText(u.Object, func(s string) {
		refs, wrong := model.FieldRefs(s)
		err = errors.Join(err, wrong)
		for _, r := range refs {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	})
	return out, err
}

func hasRefs(u *unstructured.Unstructured) bool {
	refs, _ := fieldRefsOf(u)
	return len(refs) > 0
}

// eachText visits the strings of a value in a fixed order.
func eachText(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, item := range v {
			eachText(item, visit)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			eachText(v[k], visit)
		}
	}
}

// referred returns the indexes of the objects that u refers to.
func (x *index) referred(u *unstructured.Unstructured) []int {
	refs, err := fieldRefsOf(u)
	if err != nil {
		return nil // resolve reports it
	}
	var out []int
	for _, r := range refs {
		for id, at := range x.byID {
			if r.Names(id, u.GetNamespace()) {
				out = append(out, at...)
			}
		}
	}
	return out
}

// resolve returns the object with the values of the fields that it refers to, and waits for the fields that have none yet. Objects
// without references are returned as they are.
func (r *applyRun) resolve(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	refs, err := fieldRefsOf(u)
	if err != nil || len(refs) == 0 {
		return u, err
	}
	values := map[model.FieldRef]any{}
	for _, ref := range refs {
		v, err := r.a.valueOf(ctx, r.req.Timeout, ref, u.GetNamespace())
		if errors.Is(err, errNoField) {
			logstore.Infof(r.req.Logger, "%s refers to %s of %s: waiting until there is one", title(IDOf(u)), ref.Path, ref.Object())
			dag.Idle(ctx)
			err = poll(ctx, r.req.Timeout, func(ctx context.Context) (bool, error) {
				v, err = r.a.valueOf(ctx, r.req.Timeout, ref, u.GetNamespace())
				return err == nil, err
			})
		}
		if err != nil {
			return nil, unresolved(ref, err)
		}
		values[ref] = v
	}
	return filled(u, r.req.Resource, values)
}

func unresolved(ref model.FieldRef, err error) error {
	if _, known := problem.Of(err); known {
		return err
	}
	return problem.Wrap(err, fmt.Sprintf("it refers to %s of %s, which cannot be read", ref.Path, ref.Object()),
		"check the kind, the name and the path of the reference; the resource's update can be triggered again when the field has a value")
}

// known returns the object with the values that exist already, and the references whose values will be known only after the apply
// of the objects that they refer to.
func (p *preview) known(ctx context.Context, i int, u *unstructured.Unstructured) (*unstructured.Unstructured, []model.FieldRef, error) {
	refs, err := fieldRefsOf(u)
	if err != nil || len(refs) == 0 {
		return u, nil, err
	}
	values := map[model.FieldRef]any{}
	var later []model.FieldRef
	for _, ref := range refs {
		v, err := p.a.valueOf(ctx, p.req.Timeout, ref, u.GetNamespace())
		switch {
		case errors.Is(err, errNoField):
			later = append(later, ref)
		case err != nil:
			return nil, nil, unresolved(ref, err)
		default:
			values[ref] = v
		}
	}
	u, err = filled(u, p.of[i].Resource, values)
	return u, later, err
}

// afterApply describes fields that a plan does not know.
func afterApply(refs []model.FieldRef) string {
	texts := make([]string, len(refs))
	for i, r := range refs {
		texts[i] = r.Path + " of " + r.Object()
	}
	if len(texts) == 1 {
		return texts[0] + " is known after apply"
	}
	return strings.Join(texts, ", ") + " are known after apply"
}

// valueOf reads a field that an object in a namespace refers to. The error is an errNoField if the object or the field is not there.
func (a *Applier) valueOf(ctx context.Context, within time.Duration, ref model.FieldRef, namespace string) (any, error) {
	m, err := a.mappingOf(ctx, ref.Kind)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("%w: the cluster has no kind %q", errNoField, ref.Kind)
	}
	if err != nil {
		return nil, err
	}
	if m.GroupVersionKind.Group == "" && m.GroupVersionKind.Kind == "Secret" {
		return nil, problem.New("it refers to a Secret, whose values would get into another object", "use valueFrom.secretKeyRef in the container")
	}
	ri := a.dyn.Resource(m.Resource).Namespace(ref.Namespace)
	switch {
	case m.Scope.Name() == meta.RESTScopeNameRoot:
		ri = a.dyn.Resource(m.Resource).Namespace("")
	case ref.Namespace == "":
		ri = a.dyn.Resource(m.Resource).Namespace(defaultNamespace(namespace))
	}
	var live *unstructured.Unstructured
	err = bounded(ctx, within, func(ctx context.Context) (err error) {
		live, err = ri.Get(ctx, ref.Name, metav1.GetOptions{})
		return err
	})
	switch {
	case apierrors.IsNotFound(err) || err == nil && live.GetDeletionTimestamp() != nil:
		return nil, fmt.Errorf("%w: %s does not exist", errNoField, ref.Object())
	case err != nil:
		return nil, err
	}
	return fieldOf(live, ref)
}

// fieldOf returns the value of a field that is referred to.
func fieldOf(live *unstructured.Unstructured, ref model.FieldRef) (any, error) {
	path, err := jsonpath.Parse(ref.JSONPath())
	if err != nil {
		return nil, err
	}
	found := path.Find(live.Object)
	switch {
	case len(found) == 0 || found[0] == nil || found[0] == "":
		return nil, fmt.Errorf("%w: %s has no %s", errNoField, ref.Object(), ref.Path)
	case len(found) > 1:
		return nil, problem.New(fmt.Sprintf("%s of %s is not one value: there are %d", ref.Path, ref.Object(), len(found)), "use a path to one of them")
	}
	switch found[0].(type) {
	case map[string]any, []any:
		return nil, problem.New(ref.Path+" of "+ref.Object()+" is not a text, a number or a boolean", "use a path to a single value")
	}
	return found[0], nil
}

// mappingOf looks up a kind by name. If the mapper does not know it, mappingOf resets it and tries once more.
func (a *Applier) mappingOf(ctx context.Context, kind string) (*meta.RESTMapping, error) {
	partial := schema.ParseGroupResource(strings.ToLower(kind)).WithVersion("")
	look := func() (*meta.RESTMapping, error) {
		gvk, err := a.mapper.KindFor(partial)
		if err != nil {
			return nil, err
		}
		return a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	var m *meta.RESTMapping
	err := k8s.Persist(ctx, func() (err error) {
		m, err = look()
		return err
	})
	if !meta.IsNoMatchError(err) {
		return m, err
	}
	a.resetMapper(ctx)
	return look()
}

// filled returns a copy of an object with the given values for the references to them, and with new hashes.
func filled(u *unstructured.Unstructured, resource model.ManifestName, values map[model.FieldRef]any) (*unstructured.Unstructured, error) {
	if len(values) == 0 {
		return u, nil
	}
	u = u.DeepCopy()
	u.Object, _ = fill(u.Object, false, values).(map[string]any)
	if annotation(u, AnnotationAppliedHash) == "" {
		return u, nil
	}
	return u, mark(u, resource, makerOf(u))
}

// texts are the fields in which every value, at any depth, is a text, even one that looks like a number.
var texts = map[string]bool{"data": true, "labels": true, "annotations": true, "matchLabels": true, "selector": true, "nodeSelector": true,
	"env": true, "args": true, "command": true}

// fill replaces references in a value. A text that is nothing but a reference becomes a number or a boolean if the field is one, except
// where asText is set.
func fill(v any, asText bool, values map[model.FieldRef]any) any {
	switch v := v.(type) {
	case string:
		refs, err := model.FieldRefs(v)
		if err != nil || len(refs) == 0 {
			return v
		}
		if is, ok := values[refs[0]]; ok && !asText && v == refs[0].Token() {
			return is
		}
		return model.ReplaceFieldRefs(v, func(r model.FieldRef) string {
			if is, ok := values[r]; ok {
				return fmt.Sprint(is)
			}
			return r.Token()
		})
	case []any:
		for i, item := range v {
			v[i] = fill(item, asText, values)
		}
	case map[string]any:
		for k, item := range v {
			v[k] = fill(item, asText || texts[k], values)
		}
	}
	return v
}
