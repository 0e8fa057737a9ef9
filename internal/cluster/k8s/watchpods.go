package k8s

import (
	"context"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hone-dev/hone/pkg/model"
)

// PodEvent reports the state of a pod. With Deleted the pod is gone and the other fields hold its last known state.
// With Synced it carries no pod: all pods that existed when the watch began have been reported. Synced comes exactly
// once.
type PodEvent struct {
	Pod     model.Pod
	Labels  map[string]string
	Owners  []OwnerRef
	Deleted bool
	Synced  bool
}

// WatchPods reports the existing pods, then each change that shows in a PodEvent, until ctx is done; it returns the
// context's error. It reconnects automatically, and then also reports the pods that were deleted meanwhile. A pod that
// was replaced by one of the same name is reported as deleted first. fn is called from one goroutine at a time and must
// not block for long; it may keep the event but must not change it.
func (c *Client) WatchPods(ctx context.Context, req WatchRequest, fn func(PodEvent)) error {
	w := &watcher[PodEvent]{
		req:     req,
		trouble: c.newTrouble(req, "", "pods"),
		convert: from(func(p *corev1.Pod) PodEvent {
			return PodEvent{Pod: PodFromCore(p), Labels: maps.Clone(p.Labels), Owners: ownersOf(p)}
		}),
		same: func(a, b PodEvent) bool { return reflect.DeepEqual(a, b) },
		deleted: func(old PodEvent) PodEvent {
			old.Deleted = true
			c.tunnels.forget(podKey{old.Pod.Namespace, old.Pod.Name})
			return old
		},
		synced: func() PodEvent { return PodEvent{Synced: true} },
	}
	return w.run(ctx, func(ns string) *cache.ListWatch { return listWatch(c.core.pods(ns)) }, fn)
}
