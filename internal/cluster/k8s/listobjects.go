package k8s

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// lightObjects lists objects of any kind without the sets of fields that each manager owns: with them, the first list of a watch takes
// 28 MB for 1,000 Deployments (November 2026).
type lightObjects struct {
	lists     Lists
	of        *meta.RESTMapping
	namespace string
	changes   dynamic.ResourceInterface
}

func (c *Client) lightObjects(of *meta.RESTMapping, namespace string) lightObjects {
	return lightObjects{lists: Lists{c.core.rest}, of: of, namespace: namespace, changes: c.dynamic.Resource(of.Resource).Namespace(namespace)}
}

// List implements lister. It decodes one object after the other.
func (l lightObjects) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list, err := l.lists.List(ctx, l.of.Resource, l.namespace, o)
	if err != nil {
		return nil, err
	}
	out := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(list.Items))}
	out.SetAPIVersion(list.APIVersion)
	out.SetKind(list.Kind)
	out.SetResourceVersion(list.Metadata.ResourceVersion)
	out.SetContinue(list.Metadata.Continue)
	out.SetRemainingItemCount(list.Metadata.RemainingItemCount)
	for i, item := range list.Items {
		u, err := item.Decode(l.of.GroupVersionKind)
		if err != nil {
			return nil, err
		}
		lighten(u)
		out.Items[i] = *u
	}
	return out, nil
}

// lighten removes the sets of owned fields.
func lighten(u *unstructured.Unstructured) {
	managers, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	entries, _ := managers.([]any)
	for _, e := range entries {
		if fields, ok := e.(map[string]any); ok {
			delete(fields, "fieldsV1")
		}
	}
}

// Watch implements lister.
func (l lightObjects) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return l.changes.Watch(ctx, o)
}
