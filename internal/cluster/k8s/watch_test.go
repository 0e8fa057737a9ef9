package k8s

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/pkg/model"
)

// recorder is a watcher that records its events as "name=version", "-name" and "synced".
func recorder(got *[]string, namespaces int) *watcher[string] {
	return &watcher[string]{
		convert: func(o runtime.Object) (string, bool) {
			cm := o.(*corev1.ConfigMap)
			return cm.Name + "=" + cm.Data["v"], cm.Data["v"] != "hidden"
		},
		same:    func(a, b string) bool { return a == b },
		deleted: func(old string) string { return "-" + old },
		synced:  func() string { return "synced" },
		emit:    func(s string) { *got = append(*got, s) },
		waiting: namespaces,
	}
}

func cm(name, uid, v string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)}, Data: map[string]string{"v": v},
	}
}

func TestWatchStore(t *testing.T) {
	tests := []struct {
		name string
		run  func(s *watchStore[string]) error
		want []string
	}{
		{"first list", func(s *watchStore[string]) error {
			return s.Replace([]any{cm("a", "1", "x"), cm("b", "2", "x")}, "")
		}, []string{"a=x", "b=x", "synced"}},
		{"empty list", func(s *watchStore[string]) error { return s.Replace(nil, "") }, []string{"synced"}},
		{"changes", func(s *watchStore[string]) error {
			_ = s.Add(cm("a", "1", "x"))
			_ = s.Update(cm("a", "1", "x"))
			_ = s.Update(cm("a", "1", "y"))
			_ = s.Delete(cm("a", "1", "z"))
			return s.Delete(cm("a", "1", "z"))
		}, []string{"a=x", "a=y", "-a=y"}},
		{"list after an outage", func(s *watchStore[string]) error {
			_ = s.Replace([]any{cm("a", "1", "x"), cm("b", "2", "x"), cm("c", "3", "x")}, "")
			return s.Replace([]any{cm("a", "1", "x"), cm("b", "2", "y")}, "")
		}, []string{"a=x", "b=x", "c=x", "synced", "b=y", "-c=x"}},
		{"replaced by one of the same name", func(s *watchStore[string]) error {
			_ = s.Add(cm("a", "1", "x"))
			return s.Update(cm("a", "2", "x"))
		}, []string{"a=x", "-a=x", "a=x"}},
		{"no longer of interest", func(s *watchStore[string]) error {
			_ = s.Add(cm("a", "1", "x"))
			_ = s.Add(cm("b", "2", "hidden"))
			return s.Update(cm("a", "1", "hidden"))
		}, []string{"a=x", "-a=x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			s := &watchStore[string]{w: recorder(&got, 1), items: map[string]item[string]{}}
			if err := tt.run(s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWatchSyncsAfterAllNamespaces(t *testing.T) {
	var got []string
	w := recorder(&got, 2)
	one := &watchStore[string]{w: w, items: map[string]item[string]{}}
	two := &watchStore[string]{w: w, items: map[string]item[string]{}}
	_ = one.Replace([]any{cm("a", "1", "x")}, "")
	_ = one.Replace([]any{cm("a", "1", "x")}, "")
	_ = two.Replace([]any{cm("b", "2", "x")}, "")
	if diff := cmp.Diff([]string{"a=x", "b=x", "synced"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := one.Add("not an object"); err == nil {
		t.Error("a string was taken for an object")
	}
}

func TestKubeEventFromCore(t *testing.T) {
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "p", UID: "u", FieldPath: "spec.containers{main}"}
	old := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{UID: "e"}, InvolvedObject: ref, Type: "Warning", Reason: "BackOff", Message: "again",
		Count: 4, FirstTimestamp: metav1.NewTime(t0), LastTimestamp: metav1.NewTime(t1), Source: corev1.EventSource{Component: "kubelet"},
	}
	want := KubeEvent{
		UID: "e", Object: KubeEventObject{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "p", FieldPath: "spec.containers{main}"},
		ObjectUID: "u", Type: "Warning", Reason: "BackOff", Message: "again", Count: 4, FirstSeen: t0, LastSeen: t1, Source: "kubelet",
	}
	if diff := cmp.Diff(want, KubeEventFromCore(old)); diff != "" {
		t.Errorf("older API: -want +got:\n%s", diff)
	}
	newer := &corev1.Event{
		EventTime: metav1.NewMicroTime(t0), ReportingController: "scheduler",
		Series: &corev1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(t1)},
	}
	if diff := cmp.Diff(KubeEvent{Count: 3, FirstSeen: t0, LastSeen: t1, Source: "scheduler"}, KubeEventFromCore(newer)); diff != "" {
		t.Errorf("newer API: -want +got:\n%s", diff)
	}
	if got := KubeEventFromCore(&corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(t0)}}); got.Count != 1 || !got.LastSeen.Equal(t0) {
		t.Errorf("bare: %+v", got)
	}
}

func TestObjectEventFrom(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"namespace": "ns", "name": "j", "uid": "u", "generation": int64(3), "labels": map[string]any{"a": "b"}},
		"status": map[string]any{
			"succeeded": int64(1), "startTime": t0.Format(time.RFC3339),
			"conditions": []any{map[string]any{"type": "Complete", "status": "True"}},
		},
	}}
	got := ObjectEventFrom(u)
	want := ObjectEvent{
		Status: model.ObjectStatus{
			ObjectID: model.ObjectID{Group: "batch", Kind: "Job", Namespace: "ns", Name: "j"}, UID: "u", Generation: 3, Health: model.HealthCurrent,
			Message: got.Status.Message, Ended: true,
		},
		Labels: map[string]string{"a": "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	u.SetDeletionTimestamp(&metav1.Time{Time: t1})
	if got := ObjectEventFrom(u); got.Status.Health != model.HealthCurrent {
		t.Errorf("complete, and being removed: %+v", got)
	}
	u.SetKind("CronJob")
	if got := ObjectEventFrom(u); got.Status.Health != model.HealthTerminating || got.Status.Ended {
		t.Errorf("deleted: %+v", got)
	}
}

func TestEnded(t *testing.T) {
	condition := func(kind string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True"}}}
	}
	for _, tc := range []struct {
		apiVersion, kind string
		status           map[string]any
		want             bool
	}{
		{"batch/v1", "Job", map[string]any{"active": int64(1)}, false},
		{"batch/v1", "Job", condition("SuccessCriteriaMet"), false},
		{"batch/v1", "Job", condition("Complete"), true},
		{"batch/v1", "Job", condition("Failed"), true},
		{"v1", "Pod", map[string]any{"phase": "Running"}, false},
		{"v1", "Pod", map[string]any{"phase": "Succeeded"}, true},
		{"v1", "Pod", map[string]any{"phase": "Failed"}, true},
		{"apps/v1", "Deployment", condition("Complete"), false},
		{"tekton.dev/v1", "PipelineRun", map[string]any{"startTime": "2026-01-01T00:00:00Z"}, false},
		{"tekton.dev/v1", "PipelineRun", map[string]any{"completionTime": "2026-01-01T00:00:00Z"}, true},
		{"argoproj.io/v1alpha1", "Workflow", map[string]any{"finishedAt": "2026-01-01T00:00:00Z"}, true},
		{"velero.io/v1", "Backup", map[string]any{"completionTimestamp": "2026-01-01T00:00:00Z"}, true},
		{"example.com/v1", "Pod", map[string]any{"phase": "Succeeded"}, false},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": tc.apiVersion, "kind": tc.kind, "status": tc.status}}
		if got := ObjectEventFrom(u).Status.Ended; got != tc.want {
			t.Errorf("%s %v: ended %t, want %t", tc.kind, tc.status, got, tc.want)
		}
	}
}
