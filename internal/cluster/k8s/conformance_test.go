package k8s_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

func TestRealConformance(t *testing.T) {
	k8stest.Conformance(t, func(t *testing.T) k8stest.Fixture { return newReal(t).fixture() })
}

// TestSPDYConformance runs the suite through a proxy that blocks WebSockets.
func TestSPDYConformance(t *testing.T) {
	k8stest.Conformance(t, func(t *testing.T) k8stest.Fixture {
		r := newReal(t)
		r.Client = r.behind(t, newProxy(t, r.Client, refusing("websocket")))
		return r.fixture()
	})
}

// real is a separate namespace on a real cluster.
type real struct{ *k8stest.Real }

func newReal(t *testing.T) *real { return &real{k8stest.NewReal(t)} }

// behind returns a client of the same cluster that goes through a proxy.
func (r *real) behind(t *testing.T, server string) *k8s.Client {
	t.Helper()
	return connect(t, server)
}

// connect returns a client of a server without TLS and credentials.
func connect(t *testing.T, server string) *k8s.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"test",
"contexts":[{"name":"test","context":{"cluster":"hone-dev","user":"test"}}],
"clusters":[{"name":"hone-dev","cluster":{"server":%q}}],"users":[{"name":"test","user":{}}]}`, server)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kc, err := k8s.Load(k8s.Config{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	c, err := kc.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// server is the main program of the pods: an echo server that also ends at once when told to.
const server = `trap "exit 0" TERM; nc -ll -p 7000 -e cat & wait`

func podSpec(script string) corev1.PodSpec {
	now := int64(0)
	return corev1.PodSpec{
		TerminationGracePeriodSeconds: &now,
		Containers: []corev1.Container{{
			Name: "main", Image: "busybox", ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{"sh", "-c", script}, Ports: []corev1.ContainerPort{{ContainerPort: k8stest.EchoPort}},
			ReadinessProbe: &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(k8stest.EchoPort)}},
				PeriodSeconds: 1,
			},
		}},
	}
}

func (r *real) startPod(t *testing.T, name string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}, Spec: podSpec(server),
	}
	if _, err := r.Core.Pods(r.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.awaitReady(t, name)
}

func (r *real) awaitReady(t *testing.T, name string) {
	t.Helper()
	k8stest.Eventually(t, "pod "+name, func() error {
		p, err := r.Core.Pods(r.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod := k8s.PodFromCore(p); !pod.Ready {
			return fmt.Errorf("it is %s %s", pod.Status, pod.Message)
		}
		return nil
	})
}

func (r *real) deletePod(t *testing.T, name string) {
	t.Helper()
	err := r.Core.Pods(r.Namespace).Delete(t.Context(), name, *metav1.NewDeleteOptions(0))
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// sh runs a script in a pod.
func (r *real) sh(t *testing.T, pod, script string, args ...string) {
	t.Helper()
	var out strings.Builder
	err := r.Client.Exec(t.Context(), k8s.ExecRequest{
		Namespace: r.Namespace, Pod: pod, Argv: append([]string{"sh", "-c", script, "sh"}, args...), Stdout: &out, Stderr: &out,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

func (r *real) fixture() k8stest.Fixture {
	return k8stest.Fixture{
		Client: r.Client, Namespace: r.Namespace, StartPod: r.startPod, DeletePod: r.deletePod,
		Say: func(t *testing.T, pod, line string) { r.sh(t, pod, `echo "$1" >/proc/1/fd/1`, line) },
		AddService: func(t *testing.T, name string) {
			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(k8stest.EchoPort)}},
			}}
			if _, err := r.Core.Services(r.Namespace).Create(t.Context(), svc, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		AddConfigMap: func(t *testing.T, name string) {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if _, err := r.Core.ConfigMaps(r.Namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		DeleteConfigMap: func(t *testing.T, name string) {
			if err := r.Core.ConfigMaps(r.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		AddEvent: func(t *testing.T, pod, reason, message string) {
			now := metav1.Now()
			e := &corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Name: pod + ".1"}, Type: corev1.EventTypeWarning, Reason: reason, Message: message,
				InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: r.Namespace, Name: pod},
				FirstTimestamp: now, LastTimestamp: now, Count: 1,
			}
			if _, err := r.Core.Events(r.Namespace).Create(t.Context(), e, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		Unreachable: func(t *testing.T) k8s.Interface { return connect(t, "https://127.0.0.1:1") },
	}
}
