package deploy

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Find reads objects that others applied, and returns them in the given order. It looks for namespaced objects without
// a namespace in the given one. Timeout bounds each request. A missing object is a problem; the errors of all objects
// are joined.
func (a *Applier) Find(ctx context.Context, objects []*unstructured.Unstructured, namespace string, timeout time.Duration) ([]model.AppliedObject, error) {
	if timeout <= 0 {
		timeout = model.DefaultUpdateSettings.UpsertTimeout
	}
	out := make([]model.AppliedObject, len(objects))
	nodes := make([]dag.Node, len(objects))
	for i, u := range objects {
		nodes[i] = dag.Node{Name: title(IDOf(u)), Run: func(ctx context.Context) (err error) {
			out[i], err = a.find(ctx, u, namespace, timeout)
			return err
		}}
	}
	var errs []error
	for i, err := range dag.Walk(ctx, nodes, a.parallelism) {
		if err != nil {
			errs = append(errs, fmt.Errorf("look for %s: %w", nodes[i].Name, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

func (a *Applier) find(ctx context.Context, u *unstructured.Unstructured, namespace string, timeout time.Duration) (model.AppliedObject, error) {
	t, u, err := a.target(ctx, u, namespace)
	if err != nil {
		return model.AppliedObject{}, err
	}
	var live *unstructured.Unstructured
	err = bounded(ctx, timeout, func(ctx context.Context) (err error) {
		live, err = t.ri.Get(ctx, t.id.Name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		where := ""
		if u.GetNamespace() != "" {
			where = " in namespace " + u.GetNamespace()
		}
		return model.AppliedObject{}, problem.New(fmt.Sprintf("the cluster has no %s%s", title(t.id), where),
			"check that the command applies what it prints, to this cluster and namespace")
	}
	if err != nil {
		return model.AppliedObject{}, err
	}
	return applied(live), nil
}
