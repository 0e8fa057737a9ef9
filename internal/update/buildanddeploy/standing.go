package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// Examiner finds out whether the containers or the cluster caused the failure of an update in place. It returns nil if
// the containers run, so that another builder may succeed, otherwise an error of type *Away or *Gone. With patient it
// waits for a moment: the end of a container shows in the cluster a little later than on its streams.
type Examiner func(ctx context.Context, containers []model.LackingContainer, patient bool) error

// Away means that the cluster does not answer, so that the containers cannot be reached in any way.
type Away struct{ Err error }

// Error returns the text with the cause.
func (a *Away) Error() string { return "the cluster does not answer: " + a.Err.Error() }

// Unwrap returns the cause.
func (a *Away) Unwrap() error { return a.Err }

// Gone means that all containers that could not be updated have ended. Their replacements will lack the change.
type Gone struct{ Reason string }

// Error returns the text with the reason.
func (g *Gone) Error() string {
	return g.Reason + " while it was being updated; its replacement gets the change"
}

var (
	_ error = (*Away)(nil)
	_ error = (*Gone)(nil)
)

const (
	// askTimeout bounds how long the cluster may take to report the state of a container.
	askTimeout = 5 * time.Second
	// lag is the longest time until the cluster shows that a container has ended.
	lag      = 4 * time.Second
	lagPause = replacementPause
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// Examine is the Examiner that queries the cluster.
func (c *Cluster) Examine(ctx context.Context, containers []model.LackingContainer, patient bool) error {
	for late := time.Now().Add(lag); ; {
		err := c.examine(ctx, containers)
		if err != nil || !patient || time.Now().After(late) {
			return err
		}
		if !retry.Sleep(ctx, lagPause) {
			return nil
		}
	}
}

func (c *Cluster) examine(ctx context.Context, containers []model.LackingContainer) error {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var reason string
	for _, ct := range containers {
		u, err := c.dyn.Resource(podResource).Namespace(ct.Namespace).Get(asking, ct.Pod, metav1.GetOptions{})
		switch {
		case ctx.Err() != nil:
			return nil
		case apierrors.IsNotFound(err):
			reason = fmt.Sprintf("pod %s was deleted", ct.Pod)
			continue
		case err != nil && silent(err):
			return &Away{err}
		case err != nil:
			return nil
		}
		pod, err := podFrom(u)
		if err != nil {
			return nil
		}
		why, ended := end(pod, ct.ContainerRef)
		if !ended {
			return nil
		}
		reason = why
	}
	if reason == "" {
		return nil
	}
	return &Gone{reason}
}

func podFrom(u *unstructured.Unstructured) (pod corev1.Pod, err error) {
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &pod)
	return pod, err
}

// silent reports whether an error means that the API server did not answer, or cannot answer now.
func silent(err error) bool {
	var status apierrors.APIStatus
	return k8s.AsBusy(err) != nil || !errors.As(err, &status) || status.Status().Code >= 500
}

// end returns whether a container has ended, and why.
func end(pod corev1.Pod, c model.ContainerRef) (reason string, ended bool) {
	if pod.DeletionTimestamp != nil {
		return fmt.Sprintf("pod %s was deleted", c.Pod), true
	}
	for _, s := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
		if s.Name != c.Name {
			continue
		}
		for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			if t != nil && strings.HasSuffix(t.ContainerID, c.ID) {
				return fmt.Sprintf("container %s ended (%s)", c.Name, cause(t)), true
			}
		}
		if s.State.Running != nil && strings.HasSuffix(s.ContainerID, c.ID) {
			return "", false
		}
	}
	return fmt.Sprintf("container %s ended", c.Name), true
}

func cause(t *corev1.ContainerStateTerminated) string {
	if t.Reason == "" || t.Reason == "Error" || t.Reason == "Completed" {
		return fmt.Sprintf("exit code %d", t.ExitCode)
	}
	return t.Reason
}

// explained adds advice for the user about the end of a container.
func explained(err error) error {
	var gone *Gone
	if errors.As(err, &gone) && strings.Contains(gone.Reason, "OOMKilled") {
		return problem.Wrap(err, "the container's memory ran out",
			"Raise its memory limit (resources.limits.memory) while you develop.")
	}
	return err
}
