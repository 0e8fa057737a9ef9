package deploytest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

// Metadata returns a client that lists the metadata of the objects of a namespace.
func (s *Server) Metadata() metadata.Interface { return lists{s} }

type lists struct{ s *Server }

// Resource implements metadata.Interface.
func (l lists) Resource(gvr schema.GroupVersionResource) metadata.Getter {
	return list{resource: &resource{s: l.s, gvr: gvr}}
}

// list implements only what its methods are.
type list struct {
	metadata.Getter
	resource *resource
}

// Namespace implements metadata.Getter.
func (l list) Namespace(ns string) metadata.ResourceInterface {
	return list{resource: &resource{s: l.resource.s, gvr: l.resource.gvr, ns: ns}}
}

// List implements metadata.ResourceInterface.
func (l list) List(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	found, err := l.resource.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	out := &metav1.PartialObjectMetadataList{}
	for _, u := range found.Items {
		out.Items = append(out.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(), DeletionTimestamp: u.GetDeletionTimestamp(), Finalizers: u.GetFinalizers(), Labels: u.GetLabels(), Annotations: u.GetAnnotations()}})
	}
	return out, nil
}
