package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Deleter requests the deletion of an object, in a namespace unless that is empty. It reports whether the answer says that the object is
// gone; if not, the object may still exist.
type Deleter func(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, opts metav1.DeleteOptions) (gone bool, err error)

// WithDeleter makes Delete use the given Deleter, so that it does not look for objects that are gone at once. By default it does.
func WithDeleter(d Deleter) Option { return func(a *Applier) { a.deleter = d } }

// deafTo is the Deleter of a client that drops the answers.
func deafTo(dyn dynamic.Interface) Deleter {
	return func(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, opts metav1.DeleteOptions) (bool, error) {
		return false, dyn.Resource(resource).Namespace(namespace).Delete(ctx, name, opts)
	}
}

// NewDeleter returns a Deleter for the API server of a configuration, which uses the given client.
func NewDeleter(config *rest.Config, client *http.Client) (Deleter, error) {
	config = dynamic.ConfigFor(config)
	config.GroupVersion, config.APIPath = &schema.GroupVersion{}, "/apis" // every request names its own
	c, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, opts metav1.DeleteOptions) (bool, error) {
		body, err := json.Marshal(opts)
		if err != nil {
			return false, fmt.Errorf("encode the options of the deletion: %w", err)
		}
		answer := c.Delete().AbsPath(pathOf(resource, namespace, name)...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx)
		if err := answer.Error(); err != nil {
			return false, err
		}
		text, err := answer.Raw()
		return err == nil && saysGone(text, opts), err
	}, nil
}

// pathOf returns the path of an object at the API server.
func pathOf(resource schema.GroupVersionResource, namespace, name string) []string {
	path := []string{"apis", resource.Group, resource.Version}
	if resource.Group == "" {
		path = []string{"api", resource.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, resource.Resource, name)
}

// saysGone reports whether the answer to a deletion says that the object is gone. The answer is a Status with the UID of the object, or
// the object. That one has no time of deletion if nothing has held it up.
func saysGone(answer []byte, opts metav1.DeleteOptions) bool {
	var a struct {
		metav1.TypeMeta
		Metadata metav1.ObjectMeta
		Details  struct{ UID types.UID }
	}
	if json.Unmarshal(answer, &a) != nil {
		return false
	}
	uid := a.Metadata.UID
	if a.Kind == "Status" && a.APIVersion == "v1" {
		uid = a.Details.UID
	}
	asked := opts.Preconditions != nil && opts.Preconditions.UID != nil && *opts.Preconditions.UID == uid
	return asked && a.Metadata.DeletionTimestamp == nil
}
