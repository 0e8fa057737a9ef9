package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/pkg/model"
)

var (
	podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	jobResource = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// jobLabel is the label of a Job's pods.
const jobLabel = "job-name"

// workloadPods are the pods that a workload had when it was deleted. Pods that a new workload of the same name creates
// do not count.
type workloadPods struct {
	namespace string
	uids      map[types.UID]bool
	// selector matches them, and possibly others.
	selector string
}

// podsOf returns the pods of a workload. It returns none if they cannot be determined, because waiting for them is
// optional.
func (r *deleteRun) podsOf(ctx context.Context, live *unstructured.Unstructured) workloadPods {
	if !r.req.Pods || podTemplate(live) == nil || live.GetNamespace() == "" {
		return workloadPods{}
	}
	pods := workloadPods{namespace: live.GetNamespace(), uids: map[types.UID]bool{}}
	owners := map[types.UID]bool{live.GetUID(): true}
	if live.GetKind() == "CronJob" {
		jobs, err := r.list(ctx, jobResource, pods.namespace, "")
		if err != nil {
			return workloadPods{}
		}
		for _, j := range jobs {
			if o := metav1.GetControllerOf(j); o != nil && o.UID == live.GetUID() {
				owners[j.GetUID()] = true
			}
		}
		pods.selector = jobLabel
	} else {
		pods.selector = podSelector(live)
	}
	if pods.selector == "" {
		return workloadPods{}
	}
	if marksPods(live) { // so that all workloads of the namespace share a list
		pods.selector = ManagedSelector
	}
	list, err := r.readPods(ctx, pods.namespace, pods.selector, podsAge)
	if err != nil {
		return workloadPods{}
	}
	for _, p := range list {
		o := metav1.GetControllerOf(p)
		if o == nil {
			continue
		}
		byReplicaSet := o.Kind == "ReplicaSet" && o.Name == replicaSetOf(live, p)
		if byReplicaSet || owners[o.UID] {
			pods.uids[p.GetUID()] = true
		}
	}
	return pods
}

// marksPods reports whether all pods of a workload carry hone's label. Those that an adopted one had before do not.
func marksPods(live *unstructured.Unstructured) bool {
	labels := field(podTemplate(live), "metadata", "labels")
	return text(labels, LabelManagedBy) == ManagedByHone && annotation(live, AnnotationAdopted) == ""
}

// podSelector returns the label selector of a workload's pods, empty if it has none.
func podSelector(live *unstructured.Unstructured) string {
	raw := field(live.Object, "spec", "selector")
	if live.GetKind() == "ReplicationController" {
		raw = map[string]any{"matchLabels": raw}
	}
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &selector) != nil {
		return ""
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return ""
	}
	return s.String()
}

// replicaSetOf returns the name that the pod's ReplicaSet would have if the pod belonged to the given Deployment.
func replicaSetOf(deployment, pod *unstructured.Unstructured) string {
	return deployment.GetName() + "-" + label(pod, "pod-template-hash")
}

func (r *deleteRun) list(ctx context.Context, gvr schema.GroupVersionResource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	var list *unstructured.UnstructuredList
	err := bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		list, err = r.a.dyn.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

// endingPodsOf returns the pods of a workload that no longer exists, given the workload as it was applied last. Only pods that are
// about to end count: others belong to another owner.
func (r *deleteRun) endingPodsOf(ctx context.Context, was *unstructured.Unstructured) workloadPods {
	pods := workloadPods{namespace: was.GetNamespace(), uids: map[types.UID]bool{}, selector: endingSelector(was)}
	if podTemplate(was) == nil || pods.namespace == "" || pods.selector == "" {
		return workloadPods{}
	}
	list, err := r.list(ctx, podResource, pods.namespace, pods.selector)
	if err != nil {
		return workloadPods{}
	}
	for _, p := range list {
		o := metav1.GetControllerOf(p)
		ending := p.GetDeletionTimestamp() != nil && label(p, LabelManagedBy) == ManagedByHone
		if ending && o != nil && ownsThrough(was, o, p) {
			pods.uids[p.GetUID()] = true
		}
	}
	return pods
}

// endingSelector returns a label selector that matches the pods of a workload, given its declaration. A Job gets its own selector only
// from the API server.
func endingSelector(was *unstructured.Unstructured) string {
	switch was.GetKind() {
	case "Job":
		return jobLabel + "=" + was.GetName()
	case "CronJob":
		return jobLabel
	}
	return podSelector(was)
}

// ownsThrough reports whether the owner of a pod was a workload, or belonged to it.
func ownsThrough(workload *unstructured.Unstructured, owner *metav1.OwnerReference, pod *unstructured.Unstructured) bool {
	switch owner.Kind {
	case workload.GetKind():
		return owner.Name == workload.GetName()
	case "ReplicaSet":
		return owner.Name == replicaSetOf(workload, pod)
	case "Job": // a CronJob numbers its Jobs
		number, is := strings.CutPrefix(owner.Name, workload.GetName()+"-")
		return workload.GetKind() == "CronJob" && is && strings.Trim(number, "0123456789") == ""
	}
	return false
}

// podsLeft returns the pods of a workload that still exist, and notes their blockers.
func (r *deleteRun) podsLeft(ctx context.Context, f *fate) ([]*unstructured.Unstructured, error) {
	list, err := r.readPods(ctx, f.pods.namespace, f.pods.selector, awaitedAge)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(list), func(p *unstructured.Unstructured) bool { return !f.pods.uids[p.GetUID()] })
	f.podsLeft = nil
	for _, p := range left {
		f.podsLeft = append(f.podsLeft, heldName(podTarget(p), holding(p, time.Now())))
	}
	return left, nil
}

// awaitPods waits until the pods of a workload are gone.
func (r *deleteRun) awaitPods(ctx context.Context, f *fate) error {
	pods := f.pods
	if len(pods.uids) == 0 {
		return nil
	}
	var left []*unstructured.Unstructured
	told := map[model.ObjectID]target{}
	defer func() {
		for _, t := range told {
			r.waits.done(t)
		}
	}()
	err := poll(ctx, r.req.WaitLimit, func(ctx context.Context) (_ bool, err error) {
		if left, err = r.podsLeft(ctx, f); err != nil {
			return false, err
		}
		gone := told
		told = map[model.ObjectID]target{}
		for _, p := range left {
			t := podTarget(p)
			told[t.id] = t
			delete(gone, t.id)
			r.waits.set(t, p)
		}
		for _, t := range gone {
			r.waits.done(t)
		}
		return len(left) == 0, nil
	})
	if err == nil || ctx.Err() != nil || len(left) == 0 {
		return err
	}
	names := make([]string, len(left))
	for i, p := range left {
		names[i] = title(podTarget(p).id)
	}
	return fmt.Errorf("its pods (%s): %w", strings.Join(names, ", "), stuck(podTarget(left[0]), left[0], r.req.WaitLimit, err))
}

func podTarget(p *unstructured.Unstructured) target {
	return target{id: model.ObjectID{Kind: "Pod", Namespace: p.GetNamespace(), Name: p.GetName()}}
}
