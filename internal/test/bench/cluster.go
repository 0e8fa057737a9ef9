//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/pkg/model"
)

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// cluster is the cluster of the run, accessed without hone's engine, for baselines.
type cluster struct{ *harness.Cluster }

func connect(kubeconfig string) (*cluster, error) {
	c, err := harness.Connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	return &cluster{c}, nil
}

// namespace makes a namespace and returns the function that deletes it and waits until it is gone.
func (c *cluster) namespace(ctx context.Context) (name string, remove func(), err error) {
	return c.Namespace(ctx, "hone-bench-")
}

// list times reading all Deployments of a namespace.
func (c *cluster) list(ctx context.Context, namespace string, want int) (times, error) {
	return repeat(5, func() error {
		found, err := c.Client.Dynamic().Resource(deployments).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(found.Items) != want {
			err = fmt.Errorf("%d Deployments instead of %d", len(found.Items), want)
		}
		return err
	})
}

// applyAll times applying the Deployments of a project to a namespace, as many at a time as hone does, until the
// cluster's controllers have observed all of them.
func (c *cluster) applyAll(ctx context.Context, namespace string, n int) (time.Duration, error) {
	start, outer := time.Now(), ctx
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(model.DefaultMaxParallel)
	for i := range n {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(fmt.Appendf(nil, scaleYAML, i), &u.Object); err != nil {
			return 0, err
		}
		g.Go(func() error {
			_, err := c.Client.Dynamic().Resource(deployments).Namespace(namespace).
				Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "hone-bench", Force: true})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	err := c.observed(outer, namespace)
	return time.Since(start), err
}

// observed waits until the cluster's controllers have seen the Deployments of a namespace.
func (c *cluster) observed(ctx context.Context, namespace string) error {
	return harness.Await(ctx, time.Minute, "the Deployments to be observed", func() error {
		all, err := c.Client.Dynamic().Resource(deployments).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, d := range all.Items {
			if seen, _, _ := unstructured.NestedInt64(d.Object, "status", "observedGeneration"); seen < d.GetGeneration() {
				return fmt.Errorf("%s is not", d.GetName())
			}
		}
		return nil
	})
}

// runningPod returns the name of a running pod of the namespace.
func (c *cluster) runningPod(ctx context.Context, namespace string) (string, error) {
	list, err := c.Client.Dynamic().Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list pods: %w", err)
	}
	for _, p := range list.Items {
		if phase, _, _ := unstructured.NestedString(p.Object, "status", "phase"); phase == "Running" && p.GetDeletionTimestamp() == nil {
			return p.GetName(), nil
		}
	}
	return "", fmt.Errorf("no pod runs in %s", namespace)
}
