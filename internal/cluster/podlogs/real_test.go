package podlogs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/cluster/podlogs"
)

const step = k8stest.Patience

// real is a separate namespace on the cluster.
type real struct{ *k8stest.Real }

// run starts a pod whose container runs a script. What the script writes to /kept outlives a restart of the container.
func (n real) run(t *testing.T, name, script string, restart corev1.RestartPolicy) {
	t.Helper()
	grace := int64(0)
	_, err := n.Core.Pods(n.Namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, RestartPolicy: restart,
			Containers: []corev1.Container{{
				Name: "app", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sh", "-c", script},
				VolumeMounts: []corev1.VolumeMount{{Name: "kept", MountPath: "/kept"}},
			}},
			Volumes: []corev1.Volume{{Name: "kept", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// status waits until ok accepts the container's state.
func (n real) status(t *testing.T, pod, what string, ok func(corev1.ContainerStatus) bool) {
	t.Helper()
	k8stest.Eventually(t, what, func() error {
		p, err := n.Core.Pods(n.Namespace).Get(t.Context(), pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(p.Status.ContainerStatuses) == 0 || !ok(p.Status.ContainerStatuses[0]) {
			return fmt.Errorf("%+v", p.Status.ContainerStatuses)
		}
		return nil
	})
}

// shaky is the cluster over a network that breaks following connections after a random number of bytes.
type shaky struct{ client *k8s.Client }

func (s shaky) Logs(ctx context.Context, r podlogs.Request) (io.ReadCloser, error) {
	body, err := s.client.Logs(ctx, k8s.LogRequest{
		Namespace: r.Namespace, Pod: r.Pod, Container: r.Container, Previous: r.Previous, Follow: r.Follow, Since: r.Since,
	})
	if err != nil || !r.Follow {
		return body, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, 500+rand.Int64N(100_000)), body}, nil
}

type lines struct {
	mu    sync.Mutex
	texts []string
}

func (l *lines) take(_ time.Time, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.texts = append(l.texts, text)
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.texts)
}

func (l *lines) want(t *testing.T, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, l.texts); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff[:min(len(diff), 3000)])
	}
}

func numbered(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(prefix, i+1))
	}
	return out
}

func TestRealLogOverAShakyNetwork(t *testing.T) {
	n := real{k8stest.NewReal(t)}
	const count = 3000
	n.run(t, "chatty", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line $i; if [ $((i %% 300)) = 0 ]; then sleep 0.5; fi; done; printf 'no end'`, count), corev1.RestartPolicyNever)
	n.status(t, "chatty", "a start", func(s corev1.ContainerStatus) bool { return s.State.Waiting == nil })
	var got lines
	var ended atomic.Bool
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), step)
	defer cancel()
	go func() {
		done <- podlogs.NewStream(shaky{n.Client}).Run(ctx, podlogs.Config{
			Namespace: n.Namespace, Pod: "chatty", Container: "app", Sink: got.take, Ended: ended.Load,
		})
	}()
	n.status(t, "chatty", "the end", func(s corev1.ContainerStatus) bool { return s.State.Terminated != nil })
	ended.Store(true)
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	got.want(t, append(numbered("line ", count), "no end"))
}

func TestRealLogsAcrossARestart(t *testing.T) {
	n := real{k8stest.NewReal(t)}
	// The second run does not end: however long a broken connection takes to come back, the logs of both runs are still there.
	n.run(t, "crashing", `i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo line $i; done; sleep 1; echo `+strings.Repeat("x", 30_000)+
		`; [ -e /kept/ran ] && sleep 1000000; touch /kept/ran; exit 1`, corev1.RestartPolicyAlways)
	n.status(t, "crashing", "a start", func(s corev1.ContainerStatus) bool { return s.State.Waiting == nil })
	var got lines
	var restarts atomic.Int32
	restarted := make(chan struct{})
	done := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), step)
	defer cancel()
	once := append(numbered("line ", 200), strings.Repeat("x", 30_000))
	both := errors.New("both runs are here")
	all, here := context.WithCancelCause(ctx)
	take := func(at time.Time, text string) {
		got.take(at, text)
		if got.count() == 2*len(once) {
			here(both)
		}
	}
	go func() {
		s := podlogs.NewStream(shaky{n.Client})
		follow := func(id int32) error {
			return s.Run(all, podlogs.Config{
				Namespace: n.Namespace, Pod: "crashing", Container: "app", Sink: take,
				Ended:    func() bool { return restarts.Load() > id },
				Replaced: func() bool { return restarts.Load() > id },
			})
		}
		if err := follow(0); err != nil {
			done <- err
			return
		}
		<-restarted
		done <- follow(1)
	}()
	n.status(t, "crashing", "a restart", func(s corev1.ContainerStatus) bool { return s.RestartCount == 1 && s.State.Waiting == nil })
	restarts.Store(1)
	close(restarted)
	if err := <-done; !errors.Is(context.Cause(all), both) {
		t.Errorf("Run: %v", err)
	}
	got.want(t, append(once[:len(once):len(once)], once...))
}
