package k8s

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// Secrets are the Secrets of one namespace. Its methods do as their namesakes of the dynamic client.
type Secrets interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Create(ctx context.Context, u *unstructured.Unstructured, opts metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, u *unstructured.Unstructured, opts metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions, subresources ...string) error
	// ListMetadata lists Secrets without reading their data.
	ListMetadata(ctx context.Context, opts metav1.ListOptions) ([]metav1.PartialObjectMetadata, error)
}

// Secrets returns the Secrets of a namespace; without one, of the session's.
func (c *Client) Secrets(namespace string) Secrets {
	kind := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	ns := c.namespace(namespace)
	return secrets{c.dynamic.Resource(kind).Namespace(ns), c.metadata.Resource(kind).Namespace(ns)}
}

// secrets are Secrets of a cluster.
type secrets struct {
	dynamic.ResourceInterface
	metadata metadata.ResourceInterface
}

// ListMetadata implements Secrets.
func (s secrets) ListMetadata(ctx context.Context, opts metav1.ListOptions) ([]metav1.PartialObjectMetadata, error) {
	list, err := s.metadata.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
