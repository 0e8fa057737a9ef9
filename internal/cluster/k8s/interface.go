package k8s

import (
	"context"
	"io"
	"net"

	"github.com/hone-dev/hone/pkg/model"
)

// Interface is a cluster as the rest of hone sees it. Client is the real one and says what each method does in detail;
// k8stest.Fake keeps its contents in memory. All methods are safe for use by several goroutines.
type Interface interface {
	// Cluster returns what the kubeconfig alone tells.
	Cluster() model.Cluster
	// Detect asks the cluster what it is. A cluster that does not answer is a *problem.Problem, soon.
	Detect(ctx context.Context) (model.Cluster, error)
	// Healthy returns nil when the API server is ready to work.
	Healthy(ctx context.Context) error
	// Exec runs a command in a container: nil for exit code 0, *ExitError for another one, anything else for trouble on
	// the way. It is never repeated.
	Exec(ctx context.Context, req ExecRequest) error
	// DialPod connects to a port of a pod. The context bounds the dialling only.
	DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error)
	// Logs opens a container's log, each line with its time in front.
	Logs(ctx context.Context, req LogRequest) (io.ReadCloser, error)
	// WatchPods tells of pods until ctx is done, and returns the context's error. So do the other watches.
	WatchPods(ctx context.Context, req WatchRequest, fn func(PodEvent)) error
	// WatchServices tells of Services.
	WatchServices(ctx context.Context, req WatchRequest, fn func(ServiceEvent)) error
	// WatchEvents tells of what Kubernetes has to say about objects.
	WatchEvents(ctx context.Context, req WatchRequest, fn func(KubeEvent)) error
	// WatchObjects tells of the state of objects of any kind.
	WatchObjects(ctx context.Context, apiVersion, kind string, req WatchRequest, fn func(ObjectEvent)) error
	// OwnerChain returns ref and its owners up to the topmost one.
	OwnerChain(ctx context.Context, namespace string, ref OwnerRef) ([]OwnerRef, error)
	// Close ends the connections of DialPod.
	Close() error
}
