package buildanddeploy

import (
	"errors"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/pkg/model"
)

func TestEnd(t *testing.T) {
	running := corev1.ContainerStatus{Name: "main", ContainerID: "containerd://c1",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ended := func(reason string, id string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: 3, ContainerID: "containerd://" + id}
	}
	next := running
	next.ContainerID = "containerd://c2"
	restarted := next
	restarted.LastTerminationState.Terminated = ended("OOMKilled", "c1")
	over := corev1.ContainerStatus{Name: "main", ContainerID: "containerd://c1", State: corev1.ContainerState{Terminated: ended("Error", "c1")}}
	now := metav1.Now()
	for _, tt := range []struct {
		name string
		pod  corev1.Pod
		want string // empty while it runs
	}{
		{"runs", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running}}}, ""},
		{"is over", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{over}}}, "container main ended (exit code 3)"},
		{"was killed and runs again", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{restarted}}}, "container main ended (OOMKilled)"},
		{"is another one", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{next}}}, "container main ended"},
		{"its pod goes", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, "pod web-1 was deleted"},
	} {
		why, gone := end(tt.pod, model.ContainerRef{Pod: "web-1", Name: "main", ID: "c1"})
		if why != tt.want || gone != (tt.want != "") {
			t.Errorf("%s: %q, %v", tt.name, why, gone)
		}
	}
}

func TestSilent(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{io.EOF, true}, {errors.New("connection refused"), true}, {apierrors.NewInternalError(io.EOF), true},
		{apierrors.NewServiceUnavailable("etcd"), true}, {apierrors.NewTooManyRequests("later", 1), true},
		{apierrors.NewForbidden(pods, "p", nil), false}, {apierrors.NewUnauthorized("who"), false},
	} {
		if got := silent(tt.err); got != tt.want {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
}
