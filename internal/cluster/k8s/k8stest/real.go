package k8stest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Patience is the time limit of Eventually. It is generous, because the machine may be busy: with a busy disk, the
// start of a single container has taken a minute.
const Patience = 4 * time.Minute

// Real is a separate namespace for a test on a real cluster, with a client for it.
type Real struct {
	Client    *k8s.Client
	Core      corev1client.CoreV1Interface
	Namespace string
}

// DockerKubeconfig is the environment variable with the kubeconfig of a cluster whose pods run in the container engine
// of the tests.
const DockerKubeconfig = "HONE_TEST_DOCKER_KUBECONFIG"

// NewReal creates a namespace that is ready for pods and ends with the test. It skips the test if HONE_TEST_CLUSTER is
// not set.
func NewReal(t testing.TB) *Real {
	t.Helper()
	if os.Getenv("HONE_TEST_CLUSTER") == "" {
		t.Skip("needs HONE_TEST_CLUSTER=1 (make test sets it)")
	}
	return newReal(t, k8s.Config{})
}

// NewRealOnDocker is NewReal on the cluster of DockerKubeconfig. It also skips the test if that is not set.
func NewRealOnDocker(t testing.TB) *Real {
	t.Helper()
	kubeconfig := os.Getenv(DockerKubeconfig)
	if os.Getenv("HONE_TEST_CLUSTER") == "" || kubeconfig == "" {
		t.Skipf("needs HONE_TEST_CLUSTER=1 and %s (make test sets both)", DockerKubeconfig)
	}
	return newReal(t, k8s.Config{Kubeconfig: kubeconfig})
}

func newReal(t testing.TB, config k8s.Config) *Real {
	t.Helper()
	kc, err := k8s.Load(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kc.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	core, err := corev1client.NewForConfigAndClient(client.RESTConfig(), client.HTTPClient())
	if err != nil {
		t.Fatal(err)
	}
	r := &Real{client, core, "hone-test-" + uuid.NewString()[:8]}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}}
	if _, err := core.Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience) // the test's own context has ended
		defer cancel()
		if err := core.Namespaces().Delete(ctx, r.Namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	Eventually(t, "the service account, without which pods are refused", func() error {
		_, err := core.ServiceAccounts(r.Namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return r
}

// The pauses between the questions of Eventually. Many tests wait at the same time, and a question may cost a request,
// a process or the whole view of a session: the awaited work needs the processor more.
const (
	leastPause = 20 * time.Millisecond
	mostPause  = 100 * time.Millisecond
	// longestPause is for a question that takes long itself.
	longestPause = 500 * time.Millisecond
)

// Eventually calls ask until it returns no error, and fails the test with the last error after Patience.
func Eventually(t testing.TB, what string, ask func() error) {
	t.Helper()
	eventually(t, what, ask, func(took, waited time.Duration) time.Duration {
		return min(max(leastPause, min(waited/8, mostPause), 4*took), longestPause)
	})
}

// Closely is Eventually without growing pauses, for conditions that a user watches.
func Closely(t testing.TB, what string, ask func() error) {
	t.Helper()
	eventually(t, what, ask, func(took, _ time.Duration) time.Duration { return max(leastPause-took, 0) })
}

func eventually(t testing.TB, what string, ask func() error, pause func(took, waited time.Duration) time.Duration) {
	t.Helper()
	deadline := time.After(Patience)
	for began := time.Now(); ; {
		asked := time.Now()
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-time.After(pause(time.Since(asked), time.Since(began))):
		case <-deadline:
			t.Fatalf("waiting for %s: %v", what, err)
		}
	}
}
