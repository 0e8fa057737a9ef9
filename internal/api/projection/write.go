package projection

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

type write = func(v store.View, old, new Object) ([]store.Action, error)

// readOnly refuses every change and names the alternative.
func readOnly(plural, instead string) write {
	return func(_ store.View, old, new Object) ([]store.Action, error) {
		if old != nil && new != nil && same(old, new, nil) {
			return nil, nil
		}
		return nil, forbidden(plural, either(old, new).GetName(), instead)
	}
}

func forbidden(plural, name, why string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.Group, Resource: plural}, name, errors.New(why))
}

func taken(plural, name string) error {
	return apierrors.NewAlreadyExists(schema.GroupResource{Group: v1alpha1.Group, Resource: plural}, name)
}

func invalid(format string, args ...any) error {
	return apierrors.NewBadRequest(fmt.Sprintf(format, args...))
}

func either(old, new Object) Object {
	if new != nil {
		return new
	}
	return old
}

// same reports whether two objects are equal, ignoring the fields that forget clears and the metadata that servers and
// clients manage.
func same[O Object](a, b O, forget func(O)) bool {
	text := func(o O) string {
		c := o.DeepCopyObject().(O)
		c.SetManagedFields(nil)
		c.SetResourceVersion("")
		c.SetUID("")
		c.SetGeneration(0)
		c.SetCreationTimestamp(metav1.Time{})
		c.SetLabels(notEmpty(c.GetLabels()))
		c.SetAnnotations(notEmpty(without(c.GetAnnotations(), "kubectl.kubernetes.io/last-applied-configuration")))
		c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if forget != nil {
			forget(c)
		}
		out, err := json.Marshal(c)
		if err != nil {
			bug.Reportf("%T cannot be written as JSON: %v", c, err)
		}
		return string(out)
	}
	return text(a) == text(b)
}

func notEmpty(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

func without(m map[string]string, key string) map[string]string {
	delete(m, key) // m is a copy
	return m
}

// writeUIResource sets the trigger mode.
func writeUIResource(v store.View, old, new Object) ([]store.Action, error) {
	const instead = "only status.triggerMode can be set; to update it now: hone trigger; to disable it: hone disable"
	was, is, err := both[*v1alpha1.UIResource]("uiresources", instead, old, new)
	if err != nil {
		return nil, err
	}
	if !same(was, is, func(r *v1alpha1.UIResource) { r.Status.TriggerMode = 0 }) || is.Name == string(model.TiltfileName) && !same(was, is, nil) {
		return nil, forbidden("uiresources", is.Name, instead)
	}
	if was.Status.TriggerMode == is.Status.TriggerMode {
		return nil, nil
	}
	mode := model.TriggerManual
	switch is.Status.TriggerMode {
	case api.TriggerAuto, api.TriggerAutoAfterInitial:
		mode = model.TriggerAuto
	case api.TriggerManual, api.TriggerManualAfterInitial:
	default:
		return nil, invalid("triggerMode is 0, 1, 2 or 3, not %d", is.Status.TriggerMode)
	}
	a, err := intent.SetTriggerMode(v, []string{is.Name}, mode)
	return taking("uiresources", is.Name, a, err)
}

// both returns the object before and after a change; objects of these kinds are neither created nor deleted.
func both[O Object](plural, instead string, old, new Object) (was, is O, err error) {
	if old == nil || new == nil {
		return was, is, forbidden(plural, either(old, new).GetName(), instead)
	}
	return old.(O), new.(O), nil
}

// writeTiltfile sets the arguments.
func writeTiltfile(v store.View, old, new Object) ([]store.Action, error) {
	const instead = "only spec.args can be set; the Tiltfile is chosen when the session begins: hone up --file"
	was, is, err := both[*v1alpha1.Tiltfile]("tiltfiles", instead, old, new)
	if err != nil {
		return nil, err
	}
	forget := func(t *v1alpha1.Tiltfile) { t.Spec.Args = nil }
	switch {
	case !same(was, is, forget):
		return nil, forbidden("tiltfiles", is.Name, instead)
	case same(was, is, nil):
		return nil, nil
	}
	a, changed, err := intent.SetArguments(v, is.Spec.Args)
	if err == nil && !changed {
		return nil, nil
	}
	return taking("tiltfiles", is.Name, a, err)
}

// writeConfigMap switches resources, changes data, and creates, changes and deletes config maps that clients declare.
func writeConfigMap(v store.View, old, new Object) ([]store.Action, error) {
	name := either(old, new).GetName()
	resource, isSwitch := resourceOfSwitch(v, name)
	switch {
	case isSwitch && old != nil && new != nil:
		return writeSwitch(v, resource, old.(*v1alpha1.ConfigMap), new.(*v1alpha1.ConfigMap))
	case isSwitch:
		return nil, forbidden("configmaps", name, fmt.Sprintf("it switches the resource %s; set its data.%s", resource, disabledKey))
	case new == nil:
		return withdrawn(v, "configmaps", name, state.ConfigMaps, state.ObjectsWithdrawn{ConfigMaps: []string{name}})
	case old == nil && exists(v, state.ConfigMaps, name):
		return nil, taken("configmaps", name)
	}
	is := new.(*v1alpha1.ConfigMap)
	if old != nil && same(old, new, nil) {
		return nil, nil
	}
	if holdsRedacted(is.Data) {
		return nil, invalid("data contains a redacted value: replace it with the actual value")
	}
	if old != nil && ownedByTiltfile(v, state.ConfigMaps, name) && !same(old.(*v1alpha1.ConfigMap), is, func(m *v1alpha1.ConfigMap) { m.Data = nil }) {
		return nil, forbidden("configmaps", name, "the Tiltfile declares it; only its data can be set through the API")
	}
	return []store.Action{state.ObjectsDeclared{ConfigMaps: []model.ConfigMap{{Name: name, Data: is.Data, Meta: metaFrom(is)}}}}, nil
}

// writeSwitch turns a change of a resource's config map into a request to enable or disable the resource.
func writeSwitch(v store.View, resource model.ManifestName, was, is *v1alpha1.ConfigMap) ([]store.Action, error) {
	if !same(was, is, func(m *v1alpha1.ConfigMap) { m.Data = nil }) || len(is.Data) > 1 {
		return nil, forbidden("configmaps", is.Name, "it switches a resource: only data."+disabledKey+" can be set")
	}
	off, err := strconv.ParseBool(is.Data[disabledKey])
	if err != nil {
		return nil, invalid("data.%s is \"true\" or \"false\", not %q", disabledKey, is.Data[disabledKey])
	}
	if was.Data[disabledKey] == strconv.FormatBool(off) {
		return nil, nil
	}
	return switched(v, "configmaps", is.Name, resource, off)
}

// switched enables or disables a resource for a change of the object with the given name.
func switched(v store.View, plural, name string, resource model.ManifestName, off bool) ([]store.Action, error) {
	o, err := intent.Switch(v, !off, intent.Selection{Names: []string{string(resource)}})
	a, ok := o.Action()
	if err == nil && !ok {
		return nil, nil
	}
	return taking(plural, name, a, err)
}

// taking returns the action of an intent, or its refusal in the terms of Kubernetes.
func taking(plural, name string, a store.Action, err error) ([]store.Action, error) {
	switch intent.Why(err) {
	case intent.Invalid:
		return nil, invalid("%v", err)
	case intent.Unknown:
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.Group, Resource: plural}, name)
	case intent.Impossible:
		return nil, forbidden(plural, name, err.Error())
	}
	return []store.Action{a}, err
}

func metaFrom(o Object) model.Meta {
	return model.Meta{Labels: o.GetLabels(), Annotations: without(maps.Clone(o.GetAnnotations()), "kubectl.kubernetes.io/last-applied-configuration")}
}

func exists[T any](v store.View, table *store.Table[T], name string) bool {
	ok := table.In(v).Ref(name) != nil
	return ok
}

func ownedByTiltfile[T any](v store.View, table *store.Table[T], name string) bool {
	e := table.In(v).Ref(name)
	return e != nil && e.Owner != state.APIOwner
}

// withdrawn deletes an object that a client declared.
func withdrawn[T any](v store.View, plural, name string, table *store.Table[T], action store.Action) ([]store.Action, error) {
	if !exists(v, table, name) {
		return nil, forbidden(plural, name, "it is part of a resource, which the Tiltfile declares")
	}
	if ownedByTiltfile(v, table, name) {
		return nil, forbidden(plural, name, "the Tiltfile declares it: remove it there")
	}
	return []store.Action{action}, nil
}

// holdsRedacted reports whether a value that a client sends contains the replacement of a secret.
func holdsRedacted(x any) bool {
	text, err := json.Marshal(x)
	return err == nil && logstore.Redacted(string(text))
}
