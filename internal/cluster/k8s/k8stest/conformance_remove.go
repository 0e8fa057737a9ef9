package k8stest

import (
	"context"
	"errors"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

func testRemovePod(t *testing.T, f Fixture) {
	f.StartPod(t, "mine")
	pods := observe(t, func(ctx context.Context, fn func(k8s.PodEvent)) error {
		return f.Client.WatchPods(ctx, k8s.WatchRequest{Namespaces: []string{f.Namespace}}, fn)
	})
	mine := pods.await(t, "the pod", func(e k8s.PodEvent) bool { return e.Pod.Name == "mine" && e.Pod.Ready })
	remove := func(uid string, owners ...string) error {
		return f.Client.RemovePod(t.Context(), k8s.RemovePodRequest{Namespace: f.Namespace, Name: "mine", UID: uid, Owners: owners})
	}
	if err := remove(mine.Pod.UID, "another"); !errors.Is(err, k8s.ErrForeignPod) {
		t.Errorf("a pod that others own: %v", err)
	}
	if err := remove("another", "another"); !k8s.IsNotFound(err) {
		t.Errorf("a pod that another has replaced: %v", err)
	}
	if err := remove(mine.Pod.UID, mine.Pod.UID); err != nil {
		t.Fatal(err)
	}
	pods.await(t, "its end", func(e k8s.PodEvent) bool { return e.Pod.UID == mine.Pod.UID && e.Deleted })
	if err := remove(mine.Pod.UID, mine.Pod.UID); !k8s.IsNotFound(err) {
		t.Errorf("a pod that is gone: %v", err)
	}
	pods.stop(t)
}
