package k8s

import (
	"fmt"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/model"
)

// PodTemplateHashLabel is the label that distinguishes generations of a pod template.
const PodTemplateHashLabel = "hone.dev/pod-template-hash"

// defaultContainerAnnotation names the container for commands that do not choose one.
const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// PodFromCore converts a pod to hone's type. It leaves empty the fields that the pod itself does not determine:
// Resource, Owner and ControllerCreatedAt. Nothing in the result points into p.
func PodFromCore(p *corev1.Pod) model.Pod {
	out := model.Pod{
		Namespace:      p.Namespace,
		Name:           p.Name,
		UID:            string(p.UID),
		Phase:          string(p.Status.Phase),
		Deleting:       p.DeletionTimestamp != nil,
		CreatedAt:      p.CreationTimestamp.Time,
		TemplateHash:   p.Labels[PodTemplateHashLabel],
		NodeName:       p.Spec.NodeName,
		IP:             p.Status.PodIP,
		InitContainers: containers(p.Spec.InitContainers, p.Status.InitContainerStatuses, true),
		Containers:     containers(p.Spec.Containers, p.Status.ContainerStatuses, false),
		Ready:          conditionTrue(p, corev1.PodReady),

		DefaultContainer: p.Annotations[defaultContainerAnnotation],
	}
	if ref := metav1.GetControllerOf(p); ref != nil {
		out.Controller = ref.Name
	}
	out.Status, out.Message = podStatus(p)
	out.UnreadySince = unreadySince(p, out)
	return out
}

// unreadySince returns when a pod ceased to be ready; zero if that was before its containers started, such as for a restart.
func unreadySince(p *corev1.Pod, out model.Pod) time.Time {
	c := condition(p, corev1.PodReady)
	if c == nil || c.Status == corev1.ConditionTrue {
		return time.Time{}
	}
	for _, k := range out.LastingContainers() {
		if k.State != model.ContainerRunning || !c.LastTransitionTime.After(k.StartedAt) {
			return time.Time{}
		}
	}
	return c.LastTransitionTime.Time
}

func containers(specs []corev1.Container, statuses []corev1.ContainerStatus, init bool) []model.Container {
	if len(specs) == 0 {
		return nil
	}
	out := make([]model.Container, len(specs))
	for i := range specs {
		out[i] = container(&specs[i], init)
		for j := range statuses {
			if statuses[j].Name == specs[i].Name {
				addStatus(&out[i], &statuses[j])
			}
		}
	}
	return out
}

func container(spec *corev1.Container, init bool) model.Container {
	c := model.Container{Name: spec.Name, Image: spec.Image, Init: init, Sidecar: init && isSidecar(spec), Probes: probes(spec)}
	if limit, has := spec.Resources.Limits[corev1.ResourceMemory]; has {
		c.MemoryLimit = limit.String()
	}
	for _, p := range spec.Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			c.Ports = append(c.Ports, int(p.ContainerPort))
		}
	}
	for _, m := range spec.VolumeMounts {
		if m.Name == model.SyncletName && (!init || c.Sidecar) {
			c.SyncletPath = path.Join(m.MountPath, model.SyncletFile)
		}
	}
	return c
}

// probes describes the probes of a container.
func probes(spec *corev1.Container) []model.ContainerProbe {
	var out []model.ContainerProbe
	for _, p := range []struct {
		kind  model.ProbeKind
		probe *corev1.Probe
	}{{model.ProbeStartup, spec.StartupProbe}, {model.ProbeReadiness, spec.ReadinessProbe}, {model.ProbeLiveness, spec.LivenessProbe}} {
		if p.probe != nil {
			out = append(out, model.ContainerProbe{Kind: p.kind, Calls: probeCalls(p.probe.ProbeHandler)})
		}
	}
	return out
}

// longestProbe bounds the command of a probe, in characters.
const longestProbe = 100

// probeCalls describes the action of a probe.
func probeCalls(h corev1.ProbeHandler) string {
	switch {
	case h.HTTPGet != nil:
		scheme := ""
		if h.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			scheme = "https://"
		}
		return "httpGet " + scheme + h.HTTPGet.Host + ":" + h.HTTPGet.Port.String() + "/" + strings.TrimPrefix(h.HTTPGet.Path, "/")
	case h.TCPSocket != nil:
		return "tcpSocket " + h.TCPSocket.Host + ":" + h.TCPSocket.Port.String()
	case h.Exec != nil:
		return "exec " + words.ClipChars(words.OneLine(strings.Join(h.Exec.Command, " ")), longestProbe)
	case h.GRPC != nil:
		service := ""
		if h.GRPC.Service != nil && *h.GRPC.Service != "" {
			service = " " + *h.GRPC.Service
		}
		return fmt.Sprintf("grpc :%d%s", h.GRPC.Port, service)
	}
	return ""
}

// isSidecar reports whether an init container keeps running alongside the pod's other containers.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func addStatus(c *model.Container, s *corev1.ContainerStatus) {
	c.Runtime, c.ID = splitContainerID(s.ContainerID)
	c.Ready = s.Ready
	c.Started = s.Started != nil && *s.Started
	c.Restarts = int(s.RestartCount)
	switch {
	case s.State.Running != nil:
		c.State = model.ContainerRunning
		c.StartedAt = s.State.Running.StartedAt.Time
	case s.State.Terminated != nil:
		t := s.State.Terminated
		c.State = model.ContainerTerminated
		c.Reason, c.Message, c.ExitCode = terminatedReason(t), t.Message, int(t.ExitCode)
		c.StartedAt, c.FinishedAt = t.StartedAt.Time, t.FinishedAt.Time
	case s.State.Waiting != nil:
		c.State = model.ContainerWaiting
		c.Reason, c.Message = s.State.Waiting.Reason, s.State.Waiting.Message
	}
	if t := s.LastTerminationState.Terminated; t != nil {
		_, c.LastID = splitContainerID(t.ContainerID)
		c.LastReason, c.LastExitCode, c.LastMessage = terminatedReason(t), int(t.ExitCode), t.Message
		c.LastStartedAt, c.LastFinishedAt = t.StartedAt.Time, t.FinishedAt.Time
	}
}

// splitContainerID splits "containerd://0123" into runtime and id.
func splitContainerID(id string) (runtime, rest string) {
	if runtime, rest, ok := strings.Cut(id, "://"); ok {
		return runtime, rest
	}
	return "", id
}

// terminatedReason returns the reason of a termination. If Kubernetes gives none, it is the signal or the exit code.
func terminatedReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// podStatus returns the status that kubectl shows for the pod, and Kubernetes' explanation of it, if any.
func podStatus(p *corev1.Pod) (status, message string) {
	status, message = string(p.Status.Phase), p.Status.Message
	if p.Status.Reason != "" {
		status = p.Status.Reason
	}
	if c := condition(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		if c.Reason == corev1.PodReasonSchedulingGated {
			status = c.Reason
		}
		if message == "" {
			message = c.Message
		}
	}
	initStatus, initMessage, initializing := initStatus(p)
	if initializing {
		status, message = initStatus, initMessage
	}
	if !initializing || conditionTrue(p, corev1.PodInitialized) {
		if s, m, ok := mainStatus(p, status); ok {
			status = s
			if m != "" || !initializing {
				message = firstOf(m, message)
			}
		}
	}
	if p.DeletionTimestamp == nil {
		return status, message
	}
	if p.Status.Reason == "NodeLost" {
		return "Unknown", message
	}
	if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
		return "Terminating", message
	}
	return status, message
}

// initStatus describes the first init container that has not finished.
func initStatus(p *corev1.Pod) (status, message string, initializing bool) {
	restartable := map[string]bool{}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		restartable[c.Name] = isSidecar(c)
	}
	for i := range p.Status.InitContainerStatuses {
		s := &p.Status.InitContainerStatuses[i]
		switch {
		case s.State.Terminated != nil && s.State.Terminated.ExitCode == 0:
			continue
		case restartable[s.Name] && s.Started != nil && *s.Started:
			continue
		case s.State.Terminated != nil:
			return "Init:" + terminatedReason(s.State.Terminated), s.State.Terminated.Message, true
		case s.State.Waiting != nil && s.State.Waiting.Reason != "" && s.State.Waiting.Reason != "PodInitializing":
			return "Init:" + s.State.Waiting.Reason, s.State.Waiting.Message, true
		}
		return fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers)), "", true
	}
	return "", "", false
}

// mainStatus describes the pod by its ordinary containers. The first container with a reason decides. ok is false when
// no container has one.
func mainStatus(p *corev1.Pod, current string) (status, message string, ok bool) {
	status = current
	running := false
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		s := &p.Status.ContainerStatuses[i]
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			status, message, ok = s.State.Waiting.Reason, s.State.Waiting.Message, true
		case s.State.Terminated != nil:
			status, message, ok = terminatedReason(s.State.Terminated), s.State.Terminated.Message, true
		case s.Ready && s.State.Running != nil:
			running = true
		}
	}
	if status == "Completed" && running {
		status, message, ok = "NotReady", "", true
		if conditionTrue(p, corev1.PodReady) {
			status = "Running"
		}
	}
	return status, message, ok
}

func condition(p *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func conditionTrue(p *corev1.Pod, t corev1.PodConditionType) bool {
	c := condition(p, t)
	return c != nil && c.Status == corev1.ConditionTrue
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
