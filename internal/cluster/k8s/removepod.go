package k8s

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RemovePodRequest names a pod to delete.
type RemovePodRequest struct {
	// Cluster is the context of the cluster, as in model.K8sTarget. A Fleet reads it; a client of one cluster does not.
	Cluster              string
	Namespace, Name, UID string
	// Owners are UIDs of objects: the pod is deleted only if it is one of them, or if one of them owns it, directly or through
	// others.
	Owners []string
}

// ErrForeignPod means that a pod was not deleted because none of the given objects owns it.
var ErrForeignPod = errors.New("it belongs to none of the objects that hone has applied")

var podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// RemovePod requests the deletion of a pod, which then has its own grace period to end, and does not wait for its end. It
// returns ErrForeignPod for a pod that none of the owners has created, and an error for which IsNotFound holds for a pod that
// is gone or has been replaced by another pod of the same name.
func (c *Client) RemovePod(ctx context.Context, req RemovePodRequest) error {
	err := c.removePod(ctx, req)
	if err != nil && !errors.Is(err, ErrForeignPod) {
		err = c.Explain(contextError(ctx, err))
	}
	if err != nil {
		return fmt.Errorf("delete pod %s: %w", req.Name, err)
	}
	return nil
}

func (c *Client) removePod(ctx context.Context, req RemovePodRequest) error {
	namespace := c.namespace(req.Namespace)
	m, err := c.metadata.Resource(podsResource).Namespace(namespace).Get(quiet(ctx), req.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if string(m.GetUID()) != req.UID {
		return apierrors.NewNotFound(podsResource.GroupResource(), req.Name)
	}
	own := slices.Contains(req.Owners, req.UID)
	for _, ref := range m.GetOwnerReferences() {
		chain, err := c.OwnerChain(ctx, OwnerRequest{Namespace: namespace, Ref: OwnerRef{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID)}})
		if err != nil {
			return err
		}
		own = own || slices.ContainsFunc(chain, func(o OwnerRef) bool { return slices.Contains(req.Owners, o.UID) })
	}
	if !own {
		return ErrForeignPod
	}
	return c.metadata.Resource(podsResource).Namespace(namespace).Delete(quiet(ctx), req.Name, *metav1.NewPreconditionDeleteOptions(req.UID))
}
