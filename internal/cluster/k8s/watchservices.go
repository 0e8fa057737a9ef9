package k8s

import (
	"context"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hone-dev/hone/pkg/model"
)

// ServiceEvent reports the state of a Service, as PodEvent does for a pod.
type ServiceEvent struct {
	Service model.Service
	Labels  map[string]string
	// Selector selects the pods of the Service.
	Selector map[string]string
	Owners   []OwnerRef
	Deleted  bool
	Synced   bool
}

// WatchServices is WatchPods for Services.
func (c *Client) WatchServices(ctx context.Context, req WatchRequest, fn func(ServiceEvent)) error {
	w := &watcher[ServiceEvent]{
		req:     req,
		trouble: c.newTrouble(req, "", "services"),
		convert: from(func(s *corev1.Service) ServiceEvent {
			host := ""
			if s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer {
				host = c.nodePortHost(ctx)
			}
			return ServiceEvent{
				Service: ServiceFromCore(s, host), Labels: maps.Clone(s.Labels), Selector: maps.Clone(s.Spec.Selector),
				Owners: ownersOf(s),
			}
		}),
		same:    func(a, b ServiceEvent) bool { return reflect.DeepEqual(a, b) },
		deleted: func(old ServiceEvent) ServiceEvent { old.Deleted = true; return old },
		synced:  func() ServiceEvent { return ServiceEvent{Synced: true} },
	}
	return w.run(ctx, func(ns string) *cache.ListWatch { return listWatch(c.core.services(ns)) }, fn)
}
