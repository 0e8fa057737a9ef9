package k8s

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestEphemeralFor gives the container the rights of its target, and its user as far as it is known.
func TestEphemeralFor(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	yes, no := true, false
	pod := func(own *corev1.SecurityContext, all *corev1.PodSecurityContext, user *corev1.LinuxContainerUser) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: all, Containers: []corev1.Container{{Name: "other"}, {Name: "main", SecurityContext: own}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "main", User: &corev1.ContainerUser{Linux: user}}}}}
	}
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		req  EphemeralRequest
		want corev1.SecurityContext
	}{
		{"nothing is said: root", pod(nil, nil, nil), EphemeralRequest{}, corev1.SecurityContext{RunAsUser: n(0)}},
		{"nothing but that it is not root", pod(&corev1.SecurityContext{RunAsNonRoot: &yes}, nil, nil), EphemeralRequest{}, corev1.SecurityContext{RunAsNonRoot: &yes}},
		{"the pod's user", pod(nil, &corev1.PodSecurityContext{RunAsUser: n(5), RunAsGroup: n(6)}, nil), EphemeralRequest{}, corev1.SecurityContext{RunAsUser: n(5), RunAsGroup: n(6)}},
		{"what it runs as", pod(nil, &corev1.PodSecurityContext{RunAsNonRoot: &yes}, &corev1.LinuxContainerUser{UID: 7, GID: 8}), EphemeralRequest{}, corev1.SecurityContext{RunAsUser: n(7), RunAsGroup: n(8)}},
		{"who was asked for", pod(&corev1.SecurityContext{RunAsUser: n(1)}, nil, nil), EphemeralRequest{User: n(2), Group: n(3)}, corev1.SecurityContext{RunAsUser: n(2), RunAsGroup: n(3)}},
		{"its rights", pod(&corev1.SecurityContext{RunAsUser: n(1), AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}, nil, nil), EphemeralRequest{},
			corev1.SecurityContext{RunAsUser: n(1), AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}},
	} {
		tt.req.Target, tt.req.Name = "main", "hone-synclet"
		got, err := ephemeralFor(tt.pod, tt.req)
		if err != nil || got.Name != "hone-synclet-1" || got.TargetContainerName != "main" {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
			continue
		}
		if diff := cmp.Diff(&tt.want, got.SecurityContext); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		tt.pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{*got}
		if again, err := ephemeralFor(tt.pod, tt.req); err != nil || twin(tt.pod, again, false) != "hone-synclet-1" {
			t.Errorf("%s: the one that is there is not used: %+v, %v", tt.name, again, err)
		}
		tt.pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "hone-synclet-1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
		if again, err := ephemeralFor(tt.pod, tt.req); err != nil || twin(tt.pod, again, false) != "" || again.Name != "hone-synclet-2" {
			t.Errorf("%s: one that has ended is used: %+v, %v", tt.name, again, err)
		}
	}
	found := pod(nil, nil, nil) // an earlier session has guessed the user, and then known it
	for i, user := range []int64{0, 7} {
		found.Spec.EphemeralContainers = append(found.Spec.EphemeralContainers, corev1.EphemeralContainer{TargetContainerName: "main",
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: fmt.Sprintf("hone-synclet-%d", i+1), SecurityContext: &corev1.SecurityContext{RunAsUser: &user}}})
	}
	if want, err := ephemeralFor(found, EphemeralRequest{Target: "main", Name: "hone-synclet"}); err != nil || twin(found, want, true) != "hone-synclet-2" {
		t.Errorf("the one of the right user is not used: %v", err)
	}
	sidecar := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "side"}}}, Status: corev1.PodStatus{
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "side", User: &corev1.ContainerUser{Linux: &corev1.LinuxContainerUser{UID: 7, GID: 8}}}}}}
	if got, err := ephemeralFor(sidecar, EphemeralRequest{Target: "side", Name: "hone-synclet"}); err != nil || *got.SecurityContext.RunAsUser != 7 {
		t.Errorf("beside a sidecar: %+v, %v", got, err)
	}
	if _, err := ephemeralFor(pod(nil, nil, nil), EphemeralRequest{Target: "gone"}); err == nil {
		t.Error("a container that is not there")
	}
}
