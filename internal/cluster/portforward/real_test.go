package portforward_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/cluster/portforward"
)

const step = 60 * time.Second

// real is a separate namespace on the cluster.
type real struct{ *k8stest.Real }

// pod starts a web server that answers with the pod's name, after a delay in seconds.
func (n real) pod(t *testing.T, name string, delay int) {
	t.Helper()
	grace := int64(0)
	script := fmt.Sprintf("mkdir /www && echo -n %s > /www/index.html && sleep %d && exec httpd -f -p 8080 -h /www", name, delay)
	_, err := n.Core.Pods(n.Namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{
			Name: "app", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sh", "-c", script},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k8stest.Eventually(t, "pod "+name, func() error {
		p, err := n.Core.Pods(n.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && p.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("phase %s", p.Status.Phase)
		}
		return err
	})
}

// TestRealPods follows a resource from pod to pod with one local port.
func TestRealPods(t *testing.T) {
	n := real{k8stest.NewReal(t)}
	l, err := portforward.Opener{}.Listen("localhost", 0)
	if err != nil {
		t.Fatal(err)
	}
	f := portforward.New(l, n.Client, portforward.Options{Wait: step})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})

	n.pod(t, "a", 2) // its server listens a while after the pod runs
	f.SetTarget(&portforward.Target{Namespace: n.Namespace, Pod: "a", Port: 8080})
	want(t, f, "a")
	want(t, f, "a")

	n.pod(t, "b", 0)
	grace := int64(0)
	if err := n.Core.Pods(n.Namespace).Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan string, 1)
	go func() { answered <- get(f) }()
	k8stest.Eventually(t, "the end of pod a", func() error {
		if p, err := n.Core.Pods(n.Namespace).Get(t.Context(), "a", metav1.GetOptions{}); err == nil {
			return fmt.Errorf("phase %s", p.Status.Phase)
		}
		return nil
	})
	f.SetTarget(&portforward.Target{Namespace: n.Namespace, Pod: "b", Port: 8080})
	if got := <-answered; got != "b" && got != "a" {
		t.Errorf("the request made between the pods got %q", got)
	}
	want(t, f, "b")
	if s := f.Status(); s.State != portforward.StateReady {
		t.Errorf("status %+v, want ready", s)
	}
}

func want(t *testing.T, f *portforward.Forward, text string) {
	t.Helper()
	if got := get(f); got != text {
		t.Errorf("got %q, want %q; status %+v", got, text, f.Status())
	}
}

// get fetches the page over a new connection.
func get(f *portforward.Forward) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: step}
	res, err := client.Get("http://" + f.Addr().String() + "/")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
