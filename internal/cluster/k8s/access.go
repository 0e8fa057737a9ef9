package k8s

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Access names a request that the cluster may or may not allow the user to make.
type Access struct {
	// Verb is get, list, create, patch …
	Verb string
	// Group is empty for the core group. Subresource is empty for the resource itself.
	Group, Resource, Subresource string
	// Namespace is empty for the session's namespace.
	Namespace string
}

var reviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// Allowed asks the cluster whether it allows a request. Why is the cluster's reason for a refusal and is often empty.
// An error means that the cluster did not answer.
func (c *Client) Allowed(ctx context.Context, a Access) (ok bool, why string, err error) {
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{"namespace": c.namespace(a.Namespace), "verb": a.Verb, "group": a.Group,
			"resource": a.Resource, "subresource": a.Subresource}},
	}}
	answer, err := c.dynamic.Resource(reviews).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, "", fmt.Errorf("review access: %w", err)
	}
	ok, _, _ = unstructured.NestedBool(answer.Object, "status", "allowed")
	why, _, _ = unstructured.NestedString(answer.Object, "status", "reason")
	return ok, why, nil
}
