package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"
)

// Lists lists objects of any kind and leaves them encoded: a decoded object takes ten times the memory, most of it for the sets of fields
// that each manager owns.
type Lists struct{ rest rest.Interface }

// NewLists returns lists that are requested with hc.
func NewLists(to *rest.Config, hc *http.Client) (Lists, error) {
	core, err := newCoreClient(to, hc)
	return Lists(core), err
}

// EncodedList is a list, or a part of one.
type EncodedList struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   metav1.ListMeta `json:"metadata"`
	Items      []Encoded       `json:"items"`
}

// Encoded is an object as JSON. In a list of the server's own kinds it has no kind.
type Encoded json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (e *Encoded) UnmarshalJSON(raw []byte) error {
	*e = append((*e)[:0], raw...)
	return nil
}

// List returns the objects that the options select, in all namespaces if namespace is empty.
func (l Lists) List(ctx context.Context, of schema.GroupVersionResource, namespace string, o metav1.ListOptions) (*EncodedList, error) {
	raw, err := l.rest.Get().AbsPath(pathOf(of, namespace)...).SetHeader("Accept", runtime.ContentTypeJSON).VersionedParams(&o, coreParameters).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	list := &EncodedList{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, list); err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", of.Resource, err)
	}
	return list, nil
}

// pathOf returns the path of objects on the server.
func pathOf(of schema.GroupVersionResource, namespace string) []string {
	at := []string{"apis", of.Group, of.Version}
	if of.Group == "" {
		at = []string{"api", of.Version}
	}
	if namespace != "" {
		at = append(at, "namespaces", namespace)
	}
	return append(at, of.Resource)
}

// Decode returns the object, of the given kind if it names none.
func (e Encoded) Decode(kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(e, &u.Object); err != nil {
		return nil, fmt.Errorf("read an object of kind %s: %w", kind.Kind, err)
	}
	if u.GetKind() == "" {
		u.SetGroupVersionKind(kind)
	}
	return u, nil
}

// Name returns the namespace and the name of the object.
func (e Encoded) Name() (namespace, name string, err error) {
	var o struct {
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	err = kjson.UnmarshalCaseSensitivePreserveInts(e, &o)
	return o.Metadata.Namespace, o.Metadata.Name, err
}
