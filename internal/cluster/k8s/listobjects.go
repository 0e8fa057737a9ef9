package k8s

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	kjson "sigs.k8s.io/json"
)

// lightObjects lists objects of any kind without the sets of fields that each manager owns. These are most of an object in memory: with
// them, 1,000 Deployments take 28 MB (November 2026).
type lightObjects struct {
	core      coreClient
	of        *meta.RESTMapping
	namespace string
	changes   dynamic.ResourceInterface
}

func (c *Client) lightObjects(of *meta.RESTMapping, namespace string) lightObjects {
	return lightObjects{core: c.core, of: of, namespace: namespace, changes: c.dynamic.Resource(of.Resource).Namespace(namespace)}
}

// List implements lister. It decodes one object after the other.
func (l lightObjects) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	raw, err := l.core.rest.Get().AbsPath(l.path()...).SetHeader("Accept", runtime.ContentTypeJSON).VersionedParams(&o, coreParameters).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   metav1.ListMeta   `json:"metadata"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &list); err != nil {
		return nil, err
	}
	out := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(list.Items))}
	out.SetAPIVersion(list.APIVersion)
	out.SetKind(list.Kind)
	out.SetResourceVersion(list.Metadata.ResourceVersion)
	out.SetContinue(list.Metadata.Continue)
	out.SetRemainingItemCount(list.Metadata.RemainingItemCount)
	for i, item := range list.Items {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, &out.Items[i].Object); err != nil {
			return nil, err
		}
		l.lighten(&out.Items[i])
	}
	return out, nil
}

// lighten removes the sets of owned fields, and adds the kind, which the items of a list may lack.
func (l lightObjects) lighten(u *unstructured.Unstructured) {
	if u.GetKind() == "" {
		u.SetGroupVersionKind(l.of.GroupVersionKind)
	}
	managers, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	entries, _ := managers.([]any)
	for _, e := range entries {
		if fields, ok := e.(map[string]any); ok {
			delete(fields, "fieldsV1")
		}
	}
}

// path returns the path of the objects on the server.
func (l lightObjects) path() []string {
	at := []string{"apis", l.of.Resource.Group, l.of.Resource.Version}
	if l.of.Resource.Group == "" {
		at = []string{"api", l.of.Resource.Version}
	}
	if l.namespace != "" {
		at = append(at, "namespaces", l.namespace)
	}
	return append(at, l.of.Resource.Resource)
}

// Watch implements lister.
func (l lightObjects) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return l.changes.Watch(ctx, o)
}
