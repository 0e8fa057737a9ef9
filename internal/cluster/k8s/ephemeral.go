package k8s

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/pkg/model"
)

// EphemeralRequest describes an ephemeral container to run next to an existing container.
type EphemeralRequest struct {
	// Cluster is the context of the cluster, as in model.K8sTarget. A Fleet reads it; a client of one cluster does not.
	Cluster   string
	Namespace string
	Pod       string
	// Target is the container whose processes the new one sees.
	Target string
	// Name is the prefix of the new container's name. Image is its image, which must exist, and Command its command.
	Name    string
	Image   string
	Command []string
	// User and Group are the user and group to run as. Nil means the target's, as far as the pod reveals them.
	User, Group *int64
}

// Refused is the error when the cluster does not allow a container to be added to a pod. Retrying does not help.
type Refused struct{ Reason string }

// Error returns the cluster's reason.
func (r *Refused) Error() string { return r.Reason }

var _ error = (*Refused)(nil)

// Ephemeral returns the name of a running ephemeral container that matches the request. It reuses an existing one, or
// adds one and waits until it runs. A new container gets the permissions of its target, and nothing beyond them. An
// error of type *Refused is final.
func (c *Client) Ephemeral(ctx context.Context, req EphemeralRequest) (string, error) {
	pod, err := c.core.pods(req.Namespace).Get(ctx, req.Pod)
	if err != nil {
		return "", c.Explain(fmt.Errorf("get pod %s: %w", req.Pod, err))
	}
	spec, err := ephemeralFor(pod, req)
	if err != nil {
		return "", err
	}
	if name := twin(pod, spec, req.User == nil); name != "" {
		return name, c.awaitEphemeral(ctx, req, name)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"ephemeralContainers": []corev1.EphemeralContainer{*spec}}})
	if err != nil {
		return "", fmt.Errorf("describe the ephemeral container: %w", err)
	}
	err = c.core.pods(req.Namespace).Patch(ctx, req.Pod, types.StrategicMergePatchType, patch, "ephemeralcontainers")
	if refused(err) {
		return "", &Refused{fmt.Sprintf("the cluster does not accept an ephemeral container: %v", err)}
	}
	if err != nil {
		return "", c.Explain(fmt.Errorf("add an ephemeral container to pod %s: %w", req.Pod, err))
	}
	return spec.Name, c.awaitEphemeral(ctx, req, spec.Name)
}

// refused reports whether the API server, or a policy in it, has rejected a request.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonConflict, metav1.StatusReasonTooManyRequests, metav1.StatusReasonTimeout, metav1.StatusReasonUnauthorized:
		return false // the next request may succeed
	}
	return status.Status().Code/100 == 4
}

// ephemeralFor describes the container, with the permissions of its target.
func ephemeralFor(pod *corev1.Pod, req EphemeralRequest) (*corev1.EphemeralContainer, error) {
	var target *corev1.Container
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == req.Target {
				target = &list[i]
			}
		}
	}
	if target == nil {
		return nil, fmt.Errorf("pod %s has no container %s", pod.Name, req.Target)
	}
	security := target.SecurityContext.DeepCopy()
	if security == nil {
		security = &corev1.SecurityContext{}
	}
	if req.User != nil {
		security.RunAsUser, security.RunAsGroup = req.User, req.Group
	} else {
		security.RunAsUser, security.RunAsGroup = userOf(pod, req.Target, security)
	}
	return &corev1.EphemeralContainer{TargetContainerName: req.Target, EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name:  fmt.Sprintf("%s-%d", req.Name, len(pod.Spec.EphemeralContainers)+1),
		Image: req.Image, ImagePullPolicy: corev1.PullIfNotPresent, Command: req.Command, SecurityContext: security,
	}}, nil
}

// userOf returns the user and group of a container, or nil where the image decides them. An image without a user runs
// as root, unless the pod rules that out.
func userOf(pod *corev1.Pod, name string, security *corev1.SecurityContext) (user, group *int64) {
	user, group = security.RunAsUser, security.RunAsGroup
	nonRoot := security.RunAsNonRoot
	if p := pod.Spec.SecurityContext; p != nil {
		user, group, nonRoot = cmp.Or(user, p.RunAsUser), cmp.Or(group, p.RunAsGroup), cmp.Or(nonRoot, p.RunAsNonRoot)
	}
	if user != nil {
		return user, group
	}
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		if s.Name == name && s.User != nil && s.User.Linux != nil {
			return &s.User.Linux.UID, &s.User.Linux.GID
		}
	}
	if nonRoot != nil && *nonRoot {
		return nil, group
	}
	return new(int64), group
}

// twin returns the name of a container of the same kind that runs in the pod, or is about to. If the user is a guess, the newest one
// counts, whatever its user: an earlier session has found out.
func twin(pod *corev1.Pod, want *corev1.EphemeralContainer, guess bool) string {
	prefix := want.Name[:strings.LastIndexByte(want.Name, '-')+1]
	for _, have := range slices.Backward(slices.SortedStableFunc(slices.Values(pod.Spec.EphemeralContainers), inOrder)) {
		sameKind := strings.HasPrefix(have.Name, prefix) && have.Image == want.Image
		sameTarget := have.TargetContainerName == want.TargetContainerName && (guess || sameUser(have.SecurityContext, want.SecurityContext))
		if !sameKind || !sameTarget {
			continue
		}
		if s := ephemeralStatus(pod, have.Name); s == nil || s.State.Terminated == nil && stuck(s) == "" {
			return have.Name
		}
	}
	return ""
}

// inOrder orders ephemeral containers by their numbers; the server returns them in any order.
func inOrder(a, b corev1.EphemeralContainer) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
}

func sameUser(a, b *corev1.SecurityContext) bool {
	number := func(s *corev1.SecurityContext, of func(*corev1.SecurityContext) *int64) int64 {
		if s == nil || of(s) == nil {
			return -1
		}
		return *of(s)
	}
	user := func(s *corev1.SecurityContext) *int64 { return s.RunAsUser }
	group := func(s *corev1.SecurityContext) *int64 { return s.RunAsGroup }
	return number(a, user) == number(b, user) && number(a, group) == number(b, group)
}

func ephemeralStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for i := range pod.Status.EphemeralContainerStatuses {
		if s := &pod.Status.EphemeralContainerStatuses[i]; s.Name == name {
			return s
		}
	}
	return nil
}

// stuck returns why a container does not start. It is empty while the container may still start.
func stuck(s *corev1.ContainerStatus) string {
	if w := s.State.Waiting; w != nil && model.PodErrorReasons[w.Reason] {
		return w.Reason + ": " + w.Message
	}
	return ""
}

// The shortest and the longest pause between two checks of a starting container.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = time.Second
)

// awaitEphemeral waits until a new container runs.
func (c *Client) awaitEphemeral(ctx context.Context, req EphemeralRequest, name string) error {
	looks := retry.Backoff{First: firstLook, Most: lastLook}
	for {
		pod, err := c.core.pods(req.Namespace).Get(ctx, req.Pod)
		if err != nil {
			return c.Explain(fmt.Errorf("get pod %s: %w", req.Pod, err))
		}
		if s := ephemeralStatus(pod, name); s != nil {
			switch {
			case s.State.Running != nil:
				return nil
			case s.State.Terminated != nil:
				return &Refused{fmt.Sprintf("the ephemeral container ended immediately: %s %s", terminatedReason(s.State.Terminated), s.State.Terminated.Message)}
			case stuck(s) != "":
				return &Refused{"the ephemeral container does not start: " + stuck(s)}
			}
		}
		if !looks.Sleep(ctx) {
			return context.Cause(ctx)
		}
	}
}
