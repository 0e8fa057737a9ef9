//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	pods            = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// cluster is the cluster of the run, reached without hone's engine, for baselines.
type cluster struct {
	client *k8s.Client
	// kubeconfig is the file to reach it with; empty for the user's own.
	kubeconfig string
}

func connect(kubeconfig string) (*cluster, error) {
	kc, err := k8s.Load(k8s.Config{Kubeconfig: kubeconfig})
	if err != nil {
		return nil, err
	}
	client, err := kc.Connect()
	if err != nil {
		return nil, err
	}
	return &cluster{client, kubeconfig}, nil
}

func (c *cluster) close() { _ = c.client.Close() }

// namespace makes a namespace and returns the function that deletes it and waits until it is gone. That function works
// also when ctx is done.
func (c *cluster) namespace(ctx context.Context) (name string, remove func(), err error) {
	name = "hone-bench-" + uuid.NewString()[:8]
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	res := c.client.Dynamic().Resource(namespaces)
	if _, err := res.Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return "", nil, fmt.Errorf("make a namespace: %w", err)
	}
	detached := context.WithoutCancel(ctx)
	remove = func() {
		zero := int64(0)
		_ = res.Delete(detached, name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
		_ = await(detached, 2*time.Minute, "namespace "+name+" to be gone", func() error {
			_, err := res.Get(detached, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is still there: %w", err)
		})
	}
	// Pods are refused until the namespace has its service account.
	err = await(ctx, time.Minute, "the namespace's service account", func() error {
		_, err := c.client.Dynamic().Resource(serviceAccounts).Namespace(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		remove()
		return "", nil, err
	}
	return name, remove, nil
}

// list times reading all Deployments of a namespace.
func (c *cluster) list(ctx context.Context, namespace string, want int) (times, error) {
	return repeat(5, func() error {
		found, err := c.client.Dynamic().Resource(deployments).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(found.Items) != want {
			err = fmt.Errorf("%d Deployments instead of %d", len(found.Items), want)
		}
		return err
	})
}

// applyAll times applying the Deployments of a project to a namespace, as many at a time as hone does, until the cluster's
// controllers have taken note of all of them.
func (c *cluster) applyAll(ctx context.Context, namespace string, n int) (time.Duration, error) {
	start, outer := time.Now(), ctx
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(model.DefaultUpdateSettings.MaxParallel)
	for i := range n {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(fmt.Appendf(nil, scaleYAML, i), &u.Object); err != nil {
			return 0, err
		}
		g.Go(func() error {
			_, err := c.client.Dynamic().Resource(deployments).Namespace(namespace).
				Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "hone-bench", Force: true})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	err := await(outer, time.Minute, "the Deployments to be observed", func() error {
		all, err := c.client.Dynamic().Resource(deployments).Namespace(namespace).List(outer, metav1.ListOptions{})
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
	return time.Since(start), err
}

// runningPod returns the name of a running pod of the namespace.
func (c *cluster) runningPod(ctx context.Context, namespace string) (string, error) {
	list, err := c.client.Dynamic().Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{})
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

// containersOf returns the containers of an app's running pods, which have one each.
func (c *cluster) containersOf(ctx context.Context, namespace, app string) ([]*container, error) {
	list, err := c.client.Dynamic().Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", app, err)
	}
	var out []*container
	for _, p := range list.Items {
		if p.GetDeletionTimestamp() != nil {
			continue
		}
		ip, _, _ := unstructured.NestedString(p.Object, "status", "podIP")
		statuses, _, _ := unstructured.NestedSlice(p.Object, "status", "containerStatuses")
		if len(statuses) != 1 {
			return nil, fmt.Errorf("pod %s has %d containers, want 1", p.GetName(), len(statuses))
		}
		status, _ := statuses[0].(map[string]any)
		full, _, _ := unstructured.NestedString(status, "containerID")
		_, id, ok := strings.Cut(full, "://")
		if !ok {
			return nil, fmt.Errorf("pod %s: its container is not running", p.GetName())
		}
		out = append(out, &container{app: app, id: id, pod: p.GetName(), ip: ip})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no pod of %s runs", app)
	}
	return out, nil
}

// await asks until there is no error, ctx is done or the limit is reached.
func await(ctx context.Context, limit time.Duration, what string, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, err)
		case <-tick.C:
		}
	}
}
