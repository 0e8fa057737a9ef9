//go:build linux

package declared

import (
	"context"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
)

// known holds the session's objects that describe its resources.
type known struct {
	applies map[string]v1alpha1.KubernetesApply
	lives   map[string][]v1alpha1.LiveUpdate // by resource
	watches map[string]v1alpha1.FileWatch
}

// ask asks the session for its objects.
func ask(ctx context.Context, s *client.Client) (known, error) {
	k := known{map[string]v1alpha1.KubernetesApply{}, map[string][]v1alpha1.LiveUpdate{}, map[string]v1alpha1.FileWatch{}}
	all, err := objects.Open(ctx, s.RESTConfig(), io.Discard)
	if err != nil {
		return k, err
	}
	return k, errors.Join(
		listed(ctx, all, "kubernetesapplies", func(o v1alpha1.KubernetesApply) { k.applies[o.Name] = o }),
		listed(ctx, all, "filewatches", func(o v1alpha1.FileWatch) { k.watches[o.Name] = o }),
		listed(ctx, all, "liveupdates", func(o v1alpha1.LiveUpdate) {
			name := o.Annotations["tilt.dev/resource"]
			k.lives[name] = append(k.lives[name], o)
		}))
}

// listed passes the session's objects of a kind to each.
func listed[T any](ctx context.Context, all *objects.Client, kind string, each func(T)) error {
	gvr := schema.GroupVersionResource{Group: "tilt.dev", Version: "v1alpha1", Resource: kind}
	list, err := all.Of(objects.Kind{GVR: gvr}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, u := range list.Items {
		var o T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &o); err != nil {
			return err
		}
		each(o)
	}
	return nil
}
