package containerd

import (
	"context"
	"fmt"
	"slices"

	images "github.com/containerd/containerd/api/services/images/v1"
	leases "github.com/containerd/containerd/api/services/leases/v1"
	namespaces "github.com/containerd/containerd/api/services/namespaces/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// podNamespace is containerd's namespace for Kubernetes.
const podNamespace = "k8s.io"

// The names of the headers for the namespace and lease of a request.
const (
	namespaceHeader = "containerd-namespace"
	leaseHeader     = "containerd-lease"
)

// Client talks to one containerd. It is safe for concurrent use. Close it after use.
type Client struct {
	conn *grpc.ClientConn
}

// Dial returns a client for the socket's path. It connects on the first request.
func Dial(socket string) (*Client, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("containerd at %s: %w", socket, err)
	}
	return &Client{conn: conn}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// RunsPods reports whether Kubernetes uses this containerd.
func (c *Client) RunsPods(ctx context.Context) (bool, error) {
	list, err := namespaces.NewNamespacesClient(c.conn).List(ctx, &namespaces.ListNamespacesRequest{})
	if err != nil {
		return false, fmt.Errorf("list containerd's namespaces: %w", err)
	}
	return slices.ContainsFunc(list.Namespaces, func(n *namespaces.Namespace) bool { return n.Name == podNamespace }), nil
}

// Has reports whether pods can find an image under the full name ("docker.io/library/api:tag").
func (c *Client) Has(ctx context.Context, name string) (bool, error) {
	_, err := images.NewImagesClient(c.conn).Get(inPods(ctx), &images.GetImageRequest{Name: name})
	if status.Code(err) == codes.NotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up image %s: %w", name, err)
	}
	return true, nil
}

func inPods(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, namespaceHeader, podNamespace)
}

// lease protects content written under the returned context from garbage collection until release is called.
func (c *Client) lease(ctx context.Context) (id string, held context.Context, release func(), err error) {
	service := leases.NewLeasesClient(c.conn)
	created, err := service.Create(inPods(ctx), &leases.CreateRequest{
		Labels: map[string]string{"containerd.io/gc.expire": leaseEnd()},
	})
	if err != nil {
		return "", nil, nil, fmt.Errorf("create a lease: %w", err)
	}
	id = created.Lease.ID
	release = func() {
		// Also after a cancelled import; if it fails, the lease expires on its own.
		ctx, cancel := context.WithTimeout(inPods(context.WithoutCancel(ctx)), releaseTime)
		defer cancel()
		_, _ = service.Delete(ctx, &leases.DeleteRequest{ID: id})
	}
	return id, inLease(ctx, id), release, nil
}

// inLease returns a context whose new content the lease protects.
func inLease(ctx context.Context, id string) context.Context {
	return metadata.AppendToOutgoingContext(inPods(ctx), leaseHeader, id)
}
