package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/store"
)

const (
	// writeTimeout bounds the wait of a request for the session to carry out the change.
	writeTimeout = 10 * time.Second
	// updateTimeout is the same for an existing object, because the change may have no visible effect.
	updateTimeout = time.Second
)

// desire is the change of an object that a request wants: was is nil for a create, is is nil for a delete.
type desire struct {
	k       *kind
	name    string
	was, is projection.Object
	// item is the source of was.
	item *item
	// idle is set if the change requires no action.
	idle bool
}

// decision returns the desire of a request for a snapshot. It is called while no other client writes.
type decision func(v store.View, items []*item) (desire, error)

// write carries out a request and responds to it.
func (h *Handler) write(a *answer, k *kind, ask decision) {
	if k.Write == nil {
		a.fail(apierrors.NewMethodNotSupported(k.resource(), verbOf(a.r.Method)))
		return
	}
	dry, err := dryRun(a.r.URL.Query()["dryRun"])
	if err != nil {
		a.fail(err)
		return
	}
	ctx, cancel := context.WithTimeout(a.r.Context(), h.patience)
	defer cancel()
	d, v, err := h.dispatch(ctx, k, ask, dry)
	if err != nil {
		a.fail(err)
		return
	}
	if d.idle {
		h.sendUnwritten(a, k, v, d)
		return
	}
	h.settle(ctx, a, k, d)
}

// dispatch dispatches the actions of a request to the loop and waits until they are reduced.
func (h *Handler) dispatch(ctx context.Context, k *kind, ask decision, dry bool) (d desire, v store.View, err error) {
	v, err = h.store.Write(ctx, func(v store.View) ([]store.Action, error) {
		var err error
		_, items := k.at(v)
		if d, err = ask(v, items); err != nil {
			return nil, err
		}
		if d.idle = dry || d.unchanged(); d.idle && !dry {
			return nil, nil
		}
		actions, err := k.Write(v, d.was, d.is)
		switch {
		case err != nil || dry:
			return nil, err
		case len(actions) == 0:
			if d.is != nil && d.was != nil {
				d.is = d.was // the kind ignores the change
			}
			d.idle = true
		}
		return actions, nil
	})
	switch {
	case errors.Is(err, ErrEnded):
		err = apierrors.NewServiceUnavailable(err.Error())
	case errors.Is(err, ErrBusy), errors.Is(err, ErrLate):
		err = apierrors.NewTimeoutError(err.Error(), 1)
	}
	return d, v, err
}

// unchanged reports whether the desired object equals the current one.
func (d desire) unchanged() bool {
	if d.was == nil || d.is == nil {
		return false
	}
	was, err := tree(d.was)
	if err != nil {
		return false
	}
	is, err := tree(d.is)
	return err == nil && reflect.DeepEqual(was, is)
}

// settle waits until the outcome is visible and responds with it. If that takes too long for a request, it responds with the
// current state and the status Accepted.
func (h *Handler) settle(ctx context.Context, a *answer, k *kind, d desire) {
	if d.was != nil && d.is != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, min(h.patience, updateTimeout))
		defer cancel()
	}
	for {
		changed := h.store.Changed()
		v := h.store.View()
		_, items := k.at(v)
		it := find(items, d.name)
		if d.seen(h.objects(k, v), it) {
			h.sendOutcome(a, k, v, d, it, false)
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			h.sendOutcome(a, k, v, d, it, true)
			return
		}
	}
}

// seen reports whether an item, nil if the object is gone, shows the outcome.
func (d desire) seen(o objects, it *item) bool {
	switch {
	case d.is == nil:
		return it == nil || o.make(it).GetUID() != d.was.GetUID()
	case d.was == nil:
		return it != nil
	}
	return it == nil || it.version != d.item.version
}

// sendOutcome responds with the new state of an object.
func (h *Handler) sendOutcome(a *answer, k *kind, v store.View, d desire, it *item, late bool) {
	code := http.StatusOK
	switch {
	case late:
		code = http.StatusAccepted
	case d.was == nil:
		code = http.StatusCreated
	}
	switch {
	case d.is == nil:
		h.sendDeleted(a, code, k, d)
	case it == nil && late:
		s := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess, Code: int32(code),
			Message: fmt.Sprintf("%s %q was requested, but does not exist yet", k.Plural, d.name)}
		a.sendValue(code, s)
	case it == nil:
		a.fail(apierrors.NewNotFound(k.resource(), d.name)) // deleted meanwhile
	default:
		h.sendItem(a, code, k, v, it)
	}
}

// sendUnwritten answers a request that changes nothing.
func (h *Handler) sendUnwritten(a *answer, k *kind, v store.View, d desire) {
	switch {
	case d.is == nil:
		h.sendDeleted(a, http.StatusOK, k, d)
		return
	case d.was == nil:
		h.sendObject(a, http.StatusCreated, k, v, h.objects(k, v).fill(d.is, d.name, v.Seq))
		return
	}
	h.sendObject(a, http.StatusOK, k, v, h.objects(k, v).fill(d.is, d.name, d.item.version))
}

func (h *Handler) sendDeleted(a *answer, code int, k *kind, d desire) {
	a.sendValue(code, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess, Code: int32(code),
		Details: &metav1.StatusDetails{Name: d.name, Group: k.Group, Kind: k.Plural, UID: d.was.GetUID()}})
}

func dryRun(values []string) (bool, error) {
	for _, v := range values {
		if v != metav1.DryRunAll {
			return false, apierrors.NewBadRequest(fmt.Sprintf("dryRun takes %q only", metav1.DryRunAll))
		}
	}
	return len(values) > 0, nil
}

func verbOf(method string) string {
	return map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[method]
}

func (h *Handler) create(a *answer, k *kind) {
	doc, err := a.document()
	if err != nil {
		a.fail(err)
		return
	}
	obj, err := a.decode(k, doc)
	if err != nil {
		a.fail(err)
		return
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(obj.GetGenerateName() + suffix())
	}
	h.write(a, k, func(_ store.View, items []*item) (desire, error) {
		return h.creation(k, items, obj)
	})
}

func (h *Handler) creation(k *kind, items []*item, obj projection.Object) (desire, error) {
	switch name := obj.GetName(); {
	case name == "":
		return desire{}, apierrors.NewBadRequest("the object needs a name: metadata.name")
	case obj.GetNamespace() != "":
		return desire{}, apierrors.NewBadRequest("there are no namespaces here")
	case obj.GetResourceVersion() != "":
		return desire{}, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	case find(items, name) != nil:
		return desire{}, apierrors.NewAlreadyExists(k.resource(), name)
	default:
		return desire{k: k, name: name, is: obj}, nil
	}
}

// suffix returns a random suffix that makes a name unique.
func suffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, 5)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

func (h *Handler) replace(a *answer, k *kind, name string, status bool) {
	doc, err := a.document()
	if err != nil {
		a.fail(err)
		return
	}
	h.write(a, k, func(v store.View, items []*item) (desire, error) {
		it := find(items, name)
		if it == nil {
			return desire{}, apierrors.NewNotFound(k.resource(), name)
		}
		return h.update(a, k, v, it, status, func([]byte) ([]byte, error) { return doc, nil })
	})
}

func (h *Handler) patch(a *answer, k *kind, name string, status bool) {
	patch, kind, err := a.readPatch()
	if err != nil {
		a.fail(err)
		return
	}
	h.write(a, k, func(v store.View, items []*item) (desire, error) {
		it := find(items, name)
		switch {
		case it == nil && kind == types.ApplyYAMLPatchType && !status:
			obj, err := a.decode(k, patch)
			if err != nil {
				return desire{}, err
			}
			if obj.GetName() != name {
				return desire{}, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), name))
			}
			return h.creation(k, items, obj)
		case it == nil:
			return desire{}, apierrors.NewNotFound(k.resource(), name)
		}
		return h.update(a, k, v, it, status, func(doc []byte) ([]byte, error) { return applyPatch(doc, patch, kind) })
	})
}

// update returns the desire for an object; change changes the object's document.
func (h *Handler) update(a *answer, k *kind, v store.View, it *item, status bool, change func([]byte) ([]byte, error)) (desire, error) {
	was := h.objects(k, v).make(it)
	before, err := tree(was)
	if err != nil {
		return desire{}, err
	}
	doc, err := json.Marshal(before)
	if err != nil {
		return desire{}, apierrors.NewInternalError(err)
	}
	if doc, err = change(doc); err != nil {
		return desire{}, err
	}
	if doc, err = h.complete(v, doc, before, status); err != nil {
		return desire{}, err
	}
	is, err := a.decode(k, doc)
	if err != nil {
		return desire{}, err
	}
	if err := conflicts(k, was, is); err != nil {
		return desire{}, err
	}
	is.SetUID(was.GetUID())
	is.SetResourceVersion(was.GetResourceVersion())
	if t := is.GetCreationTimestamp(); t.IsZero() {
		is.SetCreationTimestamp(was.GetCreationTimestamp())
	}
	return desire{k: k, name: it.Name, was: was, is: is, item: it}, nil
}

// complete restores the secrets that the client has not seen and, if only the status is written, everything else.
func (h *Handler) complete(v store.View, doc []byte, before map[string]any, status bool) ([]byte, error) {
	redactor := h.store.Redactor(v)
	var after map[string]any
	if err := json.Unmarshal(doc, &after); err != nil {
		return nil, apierrors.NewBadRequest("the object is not valid JSON: " + err.Error())
	}
	if after == nil {
		return nil, apierrors.NewBadRequest("the object is empty")
	}
	plain, restored := redactor.Restore(after, before)
	if status {
		whole := map[string]any{}
		for k, x := range before {
			whole[k] = x
		}
		whole["status"] = after["status"]
		if m, ok := after["metadata"].(map[string]any); ok {
			if version, ok := m["resourceVersion"]; ok { // for optimistic locking
				meta := map[string]any{}
				if old, ok := before["metadata"].(map[string]any); ok {
					for k, x := range old {
						meta[k] = x
					}
				}
				meta["resourceVersion"] = version
				whole["metadata"] = meta
			}
		}
		plain = whole
	} else if !restored {
		return doc, nil // as the client sent it, including duplicate fields
	}
	out, err := json.Marshal(plain)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}

// conflicts refuses a change that refers to another object, or to another state of the object.
func conflicts(k *kind, was, is projection.Object) error {
	switch {
	case is.GetName() != was.GetName():
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", is.GetName(), was.GetName()))
	case is.GetUID() != "" && is.GetUID() != was.GetUID():
		return apierrors.NewConflict(k.resource(), was.GetName(), fmt.Errorf("the UID in the request is %s, but the object has %s", is.GetUID(), was.GetUID()))
	case is.GetResourceVersion() != "" && is.GetResourceVersion() != was.GetResourceVersion():
		return apierrors.NewConflict(k.resource(), was.GetName(), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

// remove carries out a delete request. Its body may hold preconditions, and a dry run, which counts like one in the query.
func (h *Handler) remove(a *answer, k *kind, name string) {
	var o metav1.DeleteOptions
	if a.r.ContentLength != 0 {
		doc, err := a.document()
		if err == nil && len(doc) > 0 {
			if mistake := json.Unmarshal(doc, &o); mistake != nil {
				err = apierrors.NewBadRequest(mistake.Error())
			}
		}
		if err != nil {
			a.fail(err)
			return
		}
	}
	if len(o.DryRun) > 0 {
		q := a.r.URL.Query()
		q["dryRun"] = append(q["dryRun"], o.DryRun...)
		a.r.URL.RawQuery = q.Encode()
	}
	h.write(a, k, func(v store.View, items []*item) (desire, error) {
		it := find(items, name)
		if it == nil {
			return desire{}, apierrors.NewNotFound(k.resource(), name)
		}
		was := h.objects(k, v).make(it)
		if p := o.Preconditions; p != nil {
			same := ptr.Deref(p.UID, was.GetUID()) == was.GetUID()
			if !same || ptr.Deref(p.ResourceVersion, was.GetResourceVersion()) != was.GetResourceVersion() {
				return desire{}, apierrors.NewConflict(k.resource(), name, fmt.Errorf("the precondition does not hold: the object has been modified"))
			}
		}
		return desire{k: k, name: name, was: was, item: it}, nil
	})
}
