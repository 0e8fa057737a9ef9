package k8s

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/hone-dev/hone/pkg/model"
)

var (
	t0 = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	t1 = t0.Add(time.Minute)
)

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(t0)}}
}

func terminated(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, StartedAt: metav1.NewTime(t0), FinishedAt: metav1.NewTime(t1),
	}}
}

func stateOf(name string, s corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: s}
}

func readyStatus(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: running(), Ready: true}
}

func cond(t corev1.PodConditionType, s corev1.ConditionStatus, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{Type: t, Status: s, Reason: reason, Message: message}
}

func TestPodStatus(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	yes := true
	deleted := metav1.NewTime(t1)
	inits := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "i1"}, {Name: "i2"}},
		Containers:     []corev1.Container{{Name: "a"}, {Name: "b"}},
	}
	initialized := cond(corev1.PodInitialized, corev1.ConditionTrue, "", "")
	tests := []struct {
		name          string
		pod           corev1.Pod
		want, message string
	}{
		{"nothing known", corev1.Pod{}, "", ""},
		{"unschedulable", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			cond(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/1 nodes are available"),
		}}}, "Pending", "0/1 nodes are available"},
		{"gated", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			cond(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulingGated, "waits"),
		}}}, "SchedulingGated", "waits"},
		{"evicted", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "disk"}}, "Evicted", "disk"},
		{"first init runs", corev1.Pod{Spec: inits, Status: corev1.PodStatus{Phase: corev1.PodPending,
			InitContainerStatuses: []corev1.ContainerStatus{stateOf("i1", running()), stateOf("i2", waiting("PodInitializing", ""))},
			ContainerStatuses:     []corev1.ContainerStatus{stateOf("a", waiting("PodInitializing", ""))},
		}}, "Init:0/2", ""},
		{"second init waits", corev1.Pod{Spec: inits, Status: corev1.PodStatus{Phase: corev1.PodPending,
			InitContainerStatuses: []corev1.ContainerStatus{stateOf("i1", terminated(0, "Completed")), stateOf("i2", waiting("PodInitializing", ""))},
		}}, "Init:1/2", ""},
		{"init failed", corev1.Pod{Spec: inits, Status: corev1.PodStatus{Phase: corev1.PodPending,
			InitContainerStatuses: []corev1.ContainerStatus{stateOf("i1", terminated(1, "Error"))},
		}}, "Init:Error", ""},
		{"init failed without reason", corev1.Pod{Spec: inits, Status: corev1.PodStatus{Phase: corev1.PodPending,
			InitContainerStatuses: []corev1.ContainerStatus{stateOf("i1", terminated(7, ""))},
		}}, "Init:ExitCode:7", ""},
		{"init loops", corev1.Pod{Spec: inits, Status: corev1.PodStatus{Phase: corev1.PodPending,
			InitContainerStatuses: []corev1.ContainerStatus{stateOf("i1", waiting("CrashLoopBackOff", "back-off"))},
		}}, "Init:CrashLoopBackOff", "back-off"},
		{"sidecar is up", corev1.Pod{
			Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "s", RestartPolicy: &always}}, Containers: []corev1.Container{{Name: "a"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning,
				InitContainerStatuses: []corev1.ContainerStatus{{Name: "s", State: running(), Started: &yes}},
				ContainerStatuses:     []corev1.ContainerStatus{readyStatus("a")},
			}}, "Running", ""},
		{"creating", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending,
			ContainerStatuses: []corev1.ContainerStatus{stateOf("a", waiting("ContainerCreating", ""))}}}, "ContainerCreating", ""},
		{"image cannot be pulled", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending,
			ContainerStatuses: []corev1.ContainerStatus{stateOf("a", waiting("ErrImagePull", "no such image")), readyStatus("b")}}},
			"ErrImagePull", "no such image"},
		{"crashing", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{readyStatus("a"), stateOf("b", waiting("CrashLoopBackOff", "back-off"))}}},
			"CrashLoopBackOff", "back-off"},
		{"out of memory", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{stateOf("a", terminated(137, "OOMKilled"))}}}, "OOMKilled", ""},
		{"completed", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded,
			ContainerStatuses: []corev1.ContainerStatus{stateOf("a", terminated(0, "Completed"))}}}, "Completed", ""},
		{"one completed, one runs", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions:        []corev1.PodCondition{cond(corev1.PodReady, corev1.ConditionTrue, "", "")},
			ContainerStatuses: []corev1.ContainerStatus{stateOf("a", terminated(0, "Completed")), readyStatus("b")}}}, "Running", ""},
		{"one completed, pod not ready", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{stateOf("a", terminated(0, "Completed")), readyStatus("b")}}}, "NotReady", ""},
		{"initialized pod whose init runs again", corev1.Pod{Spec: inits, Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions:            []corev1.PodCondition{initialized},
			InitContainerStatuses: []corev1.ContainerStatus{stateOf("i1", terminated(1, "Error"))},
			ContainerStatuses:     []corev1.ContainerStatus{stateOf("a", waiting("CrashLoopBackOff", "back-off"))},
		}}, "CrashLoopBackOff", "back-off"},
		{"terminating", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{readyStatus("a")}}}, "Terminating", ""},
		{"completed and deleted", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted},
			Status: corev1.PodStatus{Phase: corev1.PodSucceeded,
				ContainerStatuses: []corev1.ContainerStatus{stateOf("a", terminated(0, "Completed"))}}}, "Completed", ""},
		{"node lost", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Reason: "NodeLost"}}, "Unknown", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, message := podStatus(&tt.pod)
			if got != tt.want || message != tt.message {
				t.Errorf("got %q, %q, want %q, %q", got, message, tt.want, tt.message)
			}
		})
	}
}

func TestPodFromCore(t *testing.T) {
	yes := true
	in := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-1", UID: "u1", CreationTimestamp: metav1.NewTime(t0),
			Labels:          map[string]string{PodTemplateHashLabel: "h1"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-5d", UID: "rs", Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName:       "n1",
			InitContainers: []corev1.Container{{Name: "migrate", Image: "shop/migrate"}},
			Containers: []corev1.Container{
				{Name: "main", Image: "shop/web:1", Ports: []corev1.ContainerPort{
					{ContainerPort: 8080}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}, {ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
				}, Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}},
				{Name: "new", Image: "x"},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.9",
			Conditions: []corev1.PodCondition{cond(corev1.PodReady, corev1.ConditionTrue, "", "")},
			InitContainerStatuses: []corev1.ContainerStatus{
				{Name: "migrate", State: terminated(0, "Completed"), ContainerID: "containerd://i", Ready: true},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", State: running(), Ready: true, RestartCount: 2, ContainerID: "docker://c2",
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ContainerID: "docker://c1", Signal: 9, ExitCode: 137, Message: "said last", StartedAt: metav1.NewTime(t0), FinishedAt: metav1.NewTime(t1),
				}},
			}},
		},
	}
	want := model.Pod{
		Namespace: "shop", Name: "web-1", UID: "u1", Phase: "Running", Status: "Running", CreatedAt: t0, TemplateHash: "h1",
		Controller: "web-5d", NodeName: "n1", IP: "10.0.0.9", Ready: true,
		InitContainers: []model.Container{{
			Name: "migrate", ID: "i", Runtime: "containerd", Image: "shop/migrate", Init: true, Ready: true,
			State: model.ContainerTerminated, Reason: "Completed", StartedAt: t0, FinishedAt: t1,
		}},
		Containers: []model.Container{{
			Name: "main", ID: "c2", Runtime: "docker", Image: "shop/web:1", Ready: true, State: model.ContainerRunning,
			StartedAt: t0, Restarts: 2, LastID: "c1", LastReason: "Signal:9", LastExitCode: 137, LastMessage: "said last",
			LastStartedAt: t0, LastFinishedAt: t1, MemoryLimit: "64Mi", Ports: []int{8080, 9090},
		}, {Name: "new", Image: "x"}},
	}
	if diff := cmp.Diff(want, PodFromCore(in)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSidecar distinguishes init containers that keep running from those that end, and finds the synclet only in the
// former.
func TestSidecar(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	mount := []corev1.VolumeMount{{Name: model.SyncletName, MountPath: "/.hone"}}
	p := PodFromCore(&corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "install", VolumeMounts: mount}, {Name: "side", RestartPolicy: &always, VolumeMounts: mount}},
			Containers:     []corev1.Container{{Name: "main", VolumeMounts: mount}},
		},
		Status: corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "install", RestartCount: 1}, {Name: "side", RestartCount: 2}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "main", RestartCount: 4}},
		},
	})
	var names []string
	for _, c := range p.LastingContainers() {
		names = append(names, c.Name+" "+c.SyncletPath)
	}
	if d := cmp.Diff([]string{"main /.hone/synclet", "side /.hone/synclet"}, names); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if install := p.InitContainers[0]; install.Sidecar || install.SyncletPath != "" || p.Restarts() != 6 {
		t.Errorf("install: %+v, %d restarts", install, p.Restarts())
	}
}

func TestProbes(t *testing.T) {
	service := "shop.Health"
	on := func(h corev1.ProbeHandler) *corev1.Probe { return &corev1.Probe{ProbeHandler: h} }
	http := func(a corev1.HTTPGetAction) corev1.ProbeHandler { return corev1.ProbeHandler{HTTPGet: &a} }
	for _, tc := range []struct {
		spec corev1.Container
		want []string
	}{
		{corev1.Container{}, nil},
		{corev1.Container{ReadinessProbe: on(http(corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8080), Scheme: "HTTP"}))},
			[]string{"readiness probe httpGet :8080/health"}},
		{corev1.Container{ReadinessProbe: on(http(corev1.HTTPGetAction{Port: intstr.FromString("web"), Host: "other", Scheme: "HTTPS"}))},
			[]string{"readiness probe httpGet https://other:web/"}},
		{corev1.Container{LivenessProbe: on(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(5432)}}),
			StartupProbe: on(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "test -e /up &&\n  echo"}}})},
			[]string{"startup probe exec sh -c test -e /up && echo", "liveness probe tcpSocket :5432"}},
		{corev1.Container{ReadinessProbe: on(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9000, Service: &service}}),
			LivenessProbe: on(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9000}})},
			[]string{"readiness probe grpc :9000 shop.Health", "liveness probe grpc :9000"}},
		{corev1.Container{ReadinessProbe: on(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{strings.Repeat("ä", 200)}}})},
			[]string{"readiness probe exec " + strings.Repeat("ä", 99) + "…"}},
		{corev1.Container{ReadinessProbe: on(corev1.ProbeHandler{})}, []string{"readiness probe"}},
	} {
		var got []string
		for _, p := range probes(&tc.spec) {
			got = append(got, p.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestUnreadySince: a pod that was ready and is not has a time; one that never was, one that starts again and one that is ready have none.
func TestUnreadySince(t *testing.T) {
	at := func(s corev1.ConditionStatus, when time.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: s, LastTransitionTime: metav1.NewTime(when)}
	}
	for name, tc := range map[string]struct {
		ready corev1.PodCondition
		state corev1.ContainerState // of a container that started at t0
		want  time.Time
	}{
		"ready":         {at(corev1.ConditionTrue, t1), running(), time.Time{}},
		"was ready":     {at(corev1.ConditionFalse, t1), running(), t1},
		"never ready":   {at(corev1.ConditionFalse, t0.Add(-time.Second)), running(), time.Time{}},
		"starts again":  {at(corev1.ConditionFalse, t1), waiting("CrashLoopBackOff", ""), time.Time{}},
		"no conditions": {corev1.PodCondition{}, running(), time.Time{}},
	} {
		pod := &corev1.Pod{
			Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{tc.ready}, ContainerStatuses: []corev1.ContainerStatus{stateOf("main", tc.state)}},
		}
		if got := PodFromCore(pod).UnreadySince; !got.Equal(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
