package k8stest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// observer collects the events of a watch.
type observer[E any] struct {
	events chan E
	done   chan error
	cancel context.CancelFunc
}

// observe starts a watch that ends with the test.
func observe[E any](t *testing.T, run func(context.Context, func(E)) error) *observer[E] {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	o := &observer[E]{events: make(chan E, 1000), done: make(chan error, 1), cancel: cancel}
	go func() { o.done <- run(ctx, func(e E) { o.events <- e }) }()
	t.Cleanup(o.cancel)
	return o
}

// await returns the first event that satisfies want, and skips the others.
func (o *observer[E]) await(t *testing.T, what string, want func(E) bool) E {
	t.Helper()
	timeout := time.After(wait)
	for {
		select {
		case e := <-o.events:
			if want(e) {
				return e
			}
		case err := <-o.done:
			t.Fatalf("waiting for %s: the watch ended: %v", what, err)
		case <-timeout:
			t.Fatalf("waiting for %s: nothing came", what)
		}
	}
}

// stop cancels the watch and wants the context's error.
func (o *observer[E]) stop(t *testing.T) {
	t.Helper()
	o.cancel()
	select {
	case err := <-o.done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	case <-time.After(wait):
		t.Error("the watch does not end")
	}
}

func testWatchPods(t *testing.T, f Fixture) {
	f.StartPod(t, "early")
	pods := observe(t, func(ctx context.Context, fn func(k8s.PodEvent)) error {
		return f.Client.WatchPods(ctx, k8s.WatchRequest{Namespaces: []string{f.Namespace}}, fn)
	})
	early := pods.await(t, "the pod that is there", func(e k8s.PodEvent) bool {
		if e.Synced {
			t.Error("synced before the pod that is there")
		}
		return e.Pod.Name == "early" && e.Pod.Ready
	})
	containers := []model.ContainerState{}
	for _, c := range early.Pod.Containers {
		containers = append(containers, c.State)
		present(t, early, c.ID)
	}
	present(t, early, early.Pod.UID)
	if diff := cmp.Diff([]any{f.Namespace, "Running", "Running", "early", []model.ContainerState{model.ContainerRunning}},
		[]any{early.Pod.Namespace, early.Pod.Phase, early.Pod.Status, early.Labels["app"], containers}); diff != "" {
		t.Error("the pod, want, got:", diff)
	}
	pods.await(t, "synced", func(e k8s.PodEvent) bool { return e.Synced })
	selected := observe(t, func(ctx context.Context, fn func(k8s.PodEvent)) error {
		return f.Client.WatchPods(ctx, k8s.WatchRequest{Selector: "app=late", Namespaces: []string{f.Namespace, f.Namespace + "-2"}}, fn)
	})
	selected.await(t, "synced", func(e k8s.PodEvent) bool {
		if !e.Synced {
			t.Errorf("not selected: %+v", e)
		}
		return e.Synced
	})
	f.StartPod(t, "late")
	pods.await(t, "a new pod", func(e k8s.PodEvent) bool { return e.Pod.Name == "late" && e.Pod.Ready })
	selected.await(t, "a new selected pod", func(e k8s.PodEvent) bool { return e.Pod.Name == "late" && e.Pod.Ready })
	f.DeletePod(t, "early")
	gone := pods.await(t, "a deletion", func(e k8s.PodEvent) bool { return e.Deleted })
	if gone.Pod.Name != "early" || gone.Pod.UID != early.Pod.UID {
		t.Errorf("deleted: %+v", gone)
	}
	pods.stop(t)
	selected.stop(t)
}

func testWatchOthers(t *testing.T, f Fixture) {
	t.Run("services", func(t *testing.T) {
		f.AddService(t, "web")
		o := observe(t, func(ctx context.Context, fn func(k8s.ServiceEvent)) error {
			return f.Client.WatchServices(ctx, k8s.WatchRequest{Namespaces: []string{f.Namespace}}, fn)
		})
		e := o.await(t, "the service", func(e k8s.ServiceEvent) bool { return e.Service.Name == "web" })
		if e.Service.URL == "" || e.Service.UID == "" || e.Service.Namespace != f.Namespace {
			t.Errorf("incomplete: %+v", e)
		}
		o.await(t, "synced", func(e k8s.ServiceEvent) bool { return e.Synced })
		o.stop(t)
	})
	t.Run("objects", func(t *testing.T) {
		o := observe(t, func(ctx context.Context, fn func(k8s.ObjectEvent)) error {
			return f.Client.WatchObjects(ctx, "v1", "ConfigMap", k8s.WatchRequest{Namespaces: []string{f.Namespace}}, fn)
		})
		o.await(t, "synced", func(e k8s.ObjectEvent) bool { return e.Synced })
		named := observe(t, func(ctx context.Context, fn func(k8s.ObjectEvent)) error {
			return f.Client.WatchObjects(ctx, "v1", "ConfigMap", k8s.WatchRequest{Namespaces: []string{f.Namespace}, Name: "settings"}, fn)
		})
		f.AddConfigMap(t, "others")
		f.AddConfigMap(t, "settings")
		named.await(t, "the object of that name", func(e k8s.ObjectEvent) bool {
			if !e.Synced && e.Status.Name != "settings" {
				t.Errorf("another name: %+v", e)
			}
			return e.Status.Name == "settings"
		})
		named.stop(t)
		e := o.await(t, "the object", func(e k8s.ObjectEvent) bool { return e.Status.Name == "settings" })
		if e.Status.Health != model.HealthCurrent || e.Status.UID == "" || e.Status.Kind != "ConfigMap" {
			t.Errorf("incomplete: %+v", e)
		}
		f.DeleteConfigMap(t, "settings")
		o.await(t, "its end", func(e k8s.ObjectEvent) bool { return e.Status.Name == "settings" && e.Deleted })
		o.stop(t)
	})
	t.Run("metadata", func(t *testing.T) {
		o := observe(t, func(ctx context.Context, fn func(k8s.MetadataEvent)) error {
			return f.Client.WatchMetadata(ctx, "v1", "ConfigMap", "hone", k8s.WatchRequest{Namespaces: []string{f.Namespace}}, fn)
		})
		o.await(t, "synced", func(e k8s.MetadataEvent) bool { return e.Synced })
		f.AddConfigMap(t, "described")
		e := o.await(t, "the object", func(e k8s.MetadataEvent) bool { return e.ID.Name == "described" })
		present(t, e, e.UID)
		if diff := cmp.Diff([]any{"ConfigMap", f.Namespace, false}, []any{e.ID.Kind, e.ID.Namespace, e.Leaving}); diff != "" {
			t.Error("the object, want, got:", diff)
		}
		f.DeleteConfigMap(t, "described")
		o.await(t, "its end", func(e k8s.MetadataEvent) bool { return e.ID.Name == "described" && e.Deleted })
		o.stop(t)
	})
	t.Run("events", func(t *testing.T) {
		o := observe(t, func(ctx context.Context, fn func(k8s.KubeEvent)) error {
			return f.Client.WatchEvents(ctx, k8s.WatchRequest{Namespaces: []string{f.Namespace}}, fn)
		})
		o.await(t, "synced", func(e k8s.KubeEvent) bool { return e.Synced })
		f.AddEvent(t, "web-0", "Tested", "it works")
		e := o.await(t, "the event", func(e k8s.KubeEvent) bool { return e.Reason == "Tested" })
		present(t, e, e.UID)
		if diff := cmp.Diff([]any{"Pod", "web-0", f.Namespace, "it works", 1, true, false},
			[]any{e.Object.Kind, e.Object.Name, e.Object.Namespace, e.Message, e.Count, e.Warning(), e.LastSeen.IsZero()}); diff != "" {
			t.Error("the event, want, got:", diff)
		}
		o.stop(t)
	})
	t.Run("missing owner", func(t *testing.T) {
		ref := k8s.OwnerRef{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "nobody", UID: "1234", Controller: true}
		chain, err := f.Client.OwnerChain(t.Context(), k8s.OwnerRequest{Namespace: f.Namespace, Ref: ref})
		if len(chain) != 0 || err != nil {
			t.Errorf("got %v, %v", chain, err)
		}
	})
}

// present checks that a client has filled a field, of which only that is certain.
func present(t *testing.T, of any, field string) {
	t.Helper()
	if field == "" {
		t.Errorf("a field is empty: %+v", of)
	}
}
