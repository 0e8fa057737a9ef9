package k8s

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/hone-dev/hone/pkg/model"
)

// ObjectEvent reports the state of an object of any kind, as PodEvent does for a pod.
type ObjectEvent struct {
	Status  model.ObjectStatus
	Labels  map[string]string
	Owners  []OwnerRef
	Deleted bool
	Synced  bool
}

// WatchObjects is WatchPods for objects of the given kind, such as "apps/v1" and "Deployment". While the cluster does
// not serve the kind, WatchObjects waits for it and calls OnError. For kinds without namespaces it ignores Namespaces.
func (c *Client) WatchObjects(ctx context.Context, apiVersion, kind string, req WatchRequest, fn func(ObjectEvent)) error {
	mapping, err := c.awaitKind(ctx, apiVersion, kind, req)
	if err != nil {
		return err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		req.Namespaces = nil
	}
	w := &watcher[ObjectEvent]{
		req:     req,
		trouble: c.newTrouble(req, mapping.Resource.Group, mapping.Resource.Resource),
		convert: from(ObjectEventFrom),
		same:    func(a, b ObjectEvent) bool { return reflect.DeepEqual(a, b) },
		deleted: func(old ObjectEvent) ObjectEvent { old.Deleted = true; return old },
		synced:  func() ObjectEvent { return ObjectEvent{Synced: true} },
	}
	return w.run(ctx, func(ns string) *cache.ListWatch { return listWatch(c.lightObjects(mapping, ns)) }, fn)
}

// awaitKind returns the mapping of a kind as soon as the cluster serves it.
func (c *Client) awaitKind(ctx context.Context, apiVersion, kind string, req WatchRequest) (*meta.RESTMapping, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", kind, err)
	}
	trouble, lookUp := c.newTrouble(req, gv.Group, kind), attempt{verb: "find"}
	ticker := time.NewTicker(kindRetry)
	defer ticker.Stop()
	for {
		mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: gv.Group, Kind: kind}, gv.Version)
		if ctx.Err() == nil {
			trouble.note(lookUp, err)
		}
		if err == nil {
			return mapping, nil
		}
		if req.OnError != nil && ctx.Err() == nil {
			req.OnError(fmt.Errorf("watch %s %s: %w", apiVersion, kind, c.Explain(err)))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}

// ObjectEventFrom computes the state of an object. It does not change u, and the result shares no memory with u.
func ObjectEventFrom(u *unstructured.Unstructured) ObjectEvent {
	e := ObjectEvent{
		Status: model.ObjectStatus{
			ObjectID: model.ObjectID{
				Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(),
			},
			UID: string(u.GetUID()), Generation: u.GetGeneration(), Ended: ended(u),
		},
		Labels: maps.Clone(u.GetLabels()),
		Owners: ownersOf(u),
	}
	e.Status.Health, e.Status.Message = health(u)
	e.Status.Pods = wantsPods(u)
	if e.Status.Health == model.HealthInProgress && lacksPods(u) {
		e.Status.PodsMissingSince = changedAt(u)
	}
	return e
}

// ended reports whether an object has run to its end, well or not: a Job by its conditions, a pod by its phase, and a custom resource,
// such as a workflow, by the time of its end.
func ended(u *unstructured.Unstructured) bool {
	switch {
	case isJob(u):
		return conditionOf(u, "Complete") != nil || conditionOf(u, "Failed") != nil
	case u.GetKind() == "Pod" && u.GetAPIVersion() == "v1":
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		return phase == "Succeeded" || phase == "Failed"
	}
	for _, field := range []string{"completionTime", "completionTimestamp", "finishedAt"} {
		if at, _, _ := unstructured.NestedString(u.Object, "status", field); at != "" {
			return true
		}
	}
	return false
}

func isJob(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Group == "batch" && gvk.Kind == "Job"
}

// health returns kstatus' status of the object and its reason. Jobs are judged by their conditions. A workload whose pods are
// refused is in progress for kstatus, up to its deadline of ten minutes; it is failing as long as they are refused.
func health(u *unstructured.Unstructured) (word, message string) {
	if isJob(u) {
		return jobHealth(u)
	}
	if c := conditionOf(u, "ReplicaFailure"); c != nil && u.GetDeletionTimestamp() == nil {
		said, _ := c["message"].(string)
		if why := model.RefusedPods(said); why != "" {
			return model.HealthFailed, why
		}
	}
	r, err := computed(u)
	if err != nil {
		return model.HealthUnknown, err.Error()
	}
	switch r.Status {
	case status.CurrentStatus:
		return model.HealthCurrent, r.Message
	case status.FailedStatus:
		return model.HealthFailed, r.Message
	case status.InProgressStatus:
		return model.HealthInProgress, r.Message
	case status.TerminatingStatus:
		return model.HealthTerminating, r.Message
	case status.NotFoundStatus, status.UnknownStatus:
	}
	return model.HealthUnknown, r.Message
}
