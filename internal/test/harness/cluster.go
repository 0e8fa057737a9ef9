package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	pods            = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Cluster is the cluster of a run, accessed without hone's engine.
type Cluster struct {
	Client *k8s.Client
	// Kubeconfig is the kubeconfig file of the cluster; empty for the user's own.
	Kubeconfig string
}

// Connect connects to the cluster of a kubeconfig; empty means the user's own.
func Connect(kubeconfig string) (*Cluster, error) {
	kc, err := k8s.Load(k8s.Config{Kubeconfig: kubeconfig})
	if err != nil {
		return nil, err
	}
	client, err := kc.Connect()
	if err != nil {
		return nil, err
	}
	return &Cluster{client, kubeconfig}, nil
}

// Close ends the connections.
func (c *Cluster) Close() { _ = c.Client.Close() }

// Namespace makes a namespace whose name begins with prefix, and returns a function that deletes it and waits until it
// is gone. The function works even when ctx is done.
func (c *Cluster) Namespace(ctx context.Context, prefix string) (name string, remove func(), err error) {
	name = prefix + uuid.NewString()[:8]
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	res := c.Client.Dynamic().Resource(namespaces)
	if _, err := res.Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return "", nil, fmt.Errorf("make a namespace: %w", err)
	}
	detached := context.WithoutCancel(ctx)
	remove = func() {
		zero := int64(0)
		_ = res.Delete(detached, name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
		_ = Await(detached, 2*time.Minute, "namespace "+name+" to be gone", func() error {
			_, err := res.Get(detached, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is still there: %w", err)
		})
	}
	// Pods are refused until the namespace has its service account.
	err = Await(ctx, time.Minute, "the namespace's service account", func() error {
		_, err := c.Client.Dynamic().Resource(serviceAccounts).Namespace(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		remove()
		return "", nil, err
	}
	return name, remove, nil
}

// Container is a running container in a pod with the label app.
type Container struct {
	App, ID, Pod, IP string
}

// Containers returns the containers of an app's running pods, which must have one each.
func (c *Cluster) Containers(ctx context.Context, namespace, app string) ([]Container, error) {
	list, err := c.Client.Dynamic().Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", app, err)
	}
	var out []Container
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
		out = append(out, Container{App: app, ID: id, Pod: p.GetName(), IP: ip})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no pod of %s runs", app)
	}
	return out, nil
}
