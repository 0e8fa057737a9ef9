package k8s

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// coreClient reads the core objects that hone knows by their types, in protobuf. client-go's typed clients do the same,
// but they link the types of every API group into the program: 15 MB of 77 (November 2026).
type coreClient struct{ rest rest.Interface }

var coreScheme, coreParameters = func() (*runtime.Scheme, runtime.ParameterCodec) {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(err) // its types do not conflict
	}
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	return s, runtime.NewParameterCodec(s)
}()

// newCoreClient returns a client that makes its requests with hc.
func newCoreClient(to *rest.Config, hc *http.Client) (coreClient, error) {
	rc := rest.CopyConfig(to)
	rc.APIPath, rc.GroupVersion = "/api", &corev1.SchemeGroupVersion
	rc.ContentType = runtime.ContentTypeProtobuf
	rc.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	rc.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(coreScheme, serializer.NewCodecFactory(coreScheme)).WithoutConversion()
	if rc.UserAgent == "" {
		rc.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	c, err := rest.RESTClientForConfigAndClient(rc, hc)
	return coreClient{c}, err
}

// identity returns the UID of the namespace kube-system, which identifies the cluster. It is empty if the cluster does
// not reveal it, and nil if the cluster has no such namespace yet.
func (c coreClient) identity(ctx context.Context) (*string, error) {
	var ns corev1.Namespace
	err := c.rest.Get().Resource("namespaces").Name("kube-system").Do(quiet(ctx)).Into(&ns)
	switch uid := string(ns.UID); {
	case err == nil || apierrors.IsForbidden(err):
		return &uid, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	}
	return nil, fmt.Errorf("identify the cluster: %w", err)
}

// coreObjects are the objects of one kind in a namespace, or in all if it is empty.
type coreObjects[O, L runtime.Object] struct {
	rest                rest.Interface
	resource, namespace string
	object              func() O
	list                func() L
}

func (c coreClient) pods(namespace string) coreObjects[*corev1.Pod, *corev1.PodList] {
	return coreObjects[*corev1.Pod, *corev1.PodList]{c.rest, "pods", namespace, func() *corev1.Pod { return &corev1.Pod{} }, func() *corev1.PodList { return &corev1.PodList{} }}
}

func (c coreClient) services(namespace string) coreObjects[*corev1.Service, *corev1.ServiceList] {
	return coreObjects[*corev1.Service, *corev1.ServiceList]{c.rest, "services", namespace, func() *corev1.Service { return &corev1.Service{} }, func() *corev1.ServiceList { return &corev1.ServiceList{} }}
}

func (c coreClient) events(namespace string) coreObjects[*corev1.Event, *corev1.EventList] {
	return coreObjects[*corev1.Event, *corev1.EventList]{c.rest, "events", namespace, func() *corev1.Event { return &corev1.Event{} }, func() *corev1.EventList { return &corev1.EventList{} }}
}

func (c coreClient) configMaps(namespace string) coreObjects[*corev1.ConfigMap, *corev1.ConfigMapList] {
	return coreObjects[*corev1.ConfigMap, *corev1.ConfigMapList]{c.rest, "configmaps", namespace, func() *corev1.ConfigMap { return &corev1.ConfigMap{} }, func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} }}
}

func (c coreClient) nodes() coreObjects[*corev1.Node, *corev1.NodeList] {
	return coreObjects[*corev1.Node, *corev1.NodeList]{c.rest, "nodes", "", func() *corev1.Node { return &corev1.Node{} }, func() *corev1.NodeList { return &corev1.NodeList{} }}
}

// Get returns an object.
func (o coreObjects[O, L]) Get(ctx context.Context, name string) (O, error) {
	out := o.object()
	err := o.rest.Get().NamespaceIfScoped(o.namespace, o.namespace != "").Resource(o.resource).Name(name).Do(ctx).Into(out)
	return out, err
}

// List returns the objects that the options select.
func (o coreObjects[O, L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	out := o.list()
	err := o.rest.Get().NamespaceIfScoped(o.namespace, o.namespace != "").Resource(o.resource).VersionedParams(&opts, coreParameters).Do(ctx).Into(out)
	return out, err
}

// Watch returns the changes of the objects that the options select.
func (o coreObjects[O, L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return o.rest.Get().NamespaceIfScoped(o.namespace, o.namespace != "").Resource(o.resource).VersionedParams(&opts, coreParameters).Watch(ctx)
}

// Patch changes an object, or a subresource of it.
func (o coreObjects[O, L]) Patch(ctx context.Context, name string, how types.PatchType, patch []byte, subresource string) error {
	return o.rest.Patch(how).NamespaceIfScoped(o.namespace, o.namespace != "").Resource(o.resource).Name(name).SubResource(subresource).Body(patch).Do(ctx).Error()
}
