package k8s

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Interface is a cluster as the other packages see it. Client is the real one and documents each method in detail;
// k8stest.Fake keeps its contents in memory. All methods are safe for use by several goroutines.
type Interface interface {
	// Cluster describes the cluster from the kubeconfig alone.
	Cluster() model.Cluster
	// Detect queries the cluster's version, nodes and the like. It soon returns a *problem.Problem if there is no
	// answer.
	Detect(ctx context.Context) (model.Cluster, error)
	// Healthy returns nil when the API server is ready to work.
	Healthy(ctx context.Context) error
	// Alive returns nil when the API server answers anything, ready or not. It costs the server next to nothing.
	Alive(ctx context.Context) error
	// Renew waits for an answer on a new connection, and ends older ones that are dead.
	Renew(ctx context.Context) error
	// Quiet returns the time for which nothing has arrived from the API server. pinged is set if a server that is merely
	// slow would not be quiet either.
	Quiet() (d time.Duration, pinged bool)
	// Stuck returns the time for which nothing has arrived on one of the pinged connections.
	Stuck() time.Duration
	// Exec runs a command in a container. It returns nil for exit code 0, an *ExitError for another code, and any other
	// error for a failure of the connection. It never retries.
	Exec(ctx context.Context, req ExecRequest) error
	// DialPod connects to a port of a pod. The context bounds the dialling only.
	DialPod(ctx context.Context, namespace, pod string, port int) (net.Conn, error)
	// Logs opens a container's log. Each line starts with its time.
	Logs(ctx context.Context, req LogRequest) (io.ReadCloser, error)
	// WatchPods reports pods until ctx is done, and returns the context's error. The other watches do likewise.
	WatchPods(ctx context.Context, req WatchRequest, fn func(PodEvent)) error
	// WatchServices reports Services.
	WatchServices(ctx context.Context, req WatchRequest, fn func(ServiceEvent)) error
	// WatchEvents reports the events that Kubernetes records about objects.
	WatchEvents(ctx context.Context, req WatchRequest, fn func(KubeEvent)) error
	// WatchObjects reports the state of objects of any kind.
	WatchObjects(ctx context.Context, apiVersion, kind string, req WatchRequest, fn func(ObjectEvent)) error
	// WatchMetadata reports the metadata of objects of any kind, and which writes concern the fields of a field manager.
	WatchMetadata(ctx context.Context, apiVersion, kind, manager string, req WatchRequest, fn func(MetadataEvent)) error
	// OwnerChain returns an owner and its owners up to the topmost one.
	OwnerChain(ctx context.Context, req OwnerRequest) ([]OwnerRef, error)
	// RemovePod deletes a pod that one of the given owners has created.
	RemovePod(ctx context.Context, req RemovePodRequest) error
	// Close ends the connections of DialPod.
	Close() error
}
