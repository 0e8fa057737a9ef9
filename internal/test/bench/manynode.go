//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/test/harness"
)

var (
	nodes  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
)

const (
	// nodeKey is the label and the taint of a paper node: only pods that ask for it get there.
	nodeKey = "bench.hone.dev/paper"
	// leaseNamespace is the namespace in which nodes say that they live.
	leaseNamespace = "kube-node-lease"
	// leaseTime is the time between two of these messages; without any for a multiple of it, pods are moved elsewhere.
	leaseTime = 10 * time.Second
)

const paperNodeYAML = `apiVersion: v1
kind: Node
metadata:
  name: %[1]s
  labels: {bench.hone.dev/paper: %[1]s, kubernetes.io/hostname: %[1]s, kubernetes.io/os: linux, kubernetes.io/arch: %[2]s}
spec:
  taints: [{key: bench.hone.dev/paper, value: %[1]s, effect: NoSchedule}]
`

const paperStatusYAML = `status:
  capacity: {cpu: 10k, memory: 10Ti, ephemeral-storage: 10Ti, pods: 100k}
  allocatable: {cpu: 10k, memory: 10Ti, ephemeral-storage: 10Ti, pods: 100k}
  addresses: [{type: InternalIP, address: %[1]s}, {type: Hostname, address: %[2]s}]
  daemonEndpoints: {kubeletEndpoint: {Port: %[3]d}}
  nodeInfo: {architecture: %[4]s, operatingSystem: linux, containerRuntimeVersion: containerd://2.0.0, kubeletVersion: v1.34.4, kubeProxyVersion: "",
    bootID: "", kernelVersion: "", machineID: "", osImage: "", systemUUID: ""}
  conditions:
  - {type: Ready, status: "True", reason: KubeletReady, lastHeartbeatTime: %[5]q, lastTransitionTime: %[5]q}
`

// paperNode is a Node without a machine. Its pods exist in the API server alone, where a paperKubelet reports that they run.
type paperNode struct {
	client  dynamic.Interface
	name    string
	address string
	cancel  context.CancelFunc
	kubelet *paperKubelet
	done    chan error
}

// paperNode adds a Node. The caller removes it, when its pods are gone.
func (c *cluster) paperNode(ctx context.Context) (*paperNode, error) {
	address, err := c.nodeAddress(ctx)
	if err != nil {
		return nil, err
	}
	// The node lives until its end, also if the measurement is interrupted: the removal of its pods goes through it.
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n := &paperNode{client: c.Client.Dynamic(), name: "hone-bench-" + uuid.NewString()[:8], address: address, cancel: cancel, done: make(chan error, 1)}
	if n.kubelet, err = openPaperKubelet(ctx, n); err != nil {
		cancel()
		return nil, err
	}
	if err := n.register(ctx); err != nil {
		n.done <- nil
		return nil, errors.Join(err, n.remove())
	}
	go func() { n.done <- n.live(inner) }()
	return n, nil
}

// nodeAddress returns the address at which the API server reaches this machine's kubelet.
func (c *cluster) nodeAddress(ctx context.Context) (string, error) {
	list, err := c.Client.Dynamic().Resource(nodes).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	for _, n := range list.Items {
		addresses, _, _ := unstructured.NestedSlice(n.Object, "status", "addresses")
		_, paper := n.GetLabels()[nodeKey]
		for _, a := range addresses {
			if a, _ := a.(map[string]any); a["type"] == "InternalIP" && !paper {
				address, _ := a["address"].(string)
				return address, nil
			}
		}
	}
	return "", errors.New("no node of the cluster has an internal address")
}

// register makes the Node and its lease. A patch of the status goes past the controllers that change the Node meanwhile.
func (n *paperNode) register(ctx context.Context) error {
	var node unstructured.Unstructured
	if err := yaml.Unmarshal(fmt.Appendf(nil, paperNodeYAML, n.name, runtime.GOARCH), &node.Object); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	status, err := yaml.YAMLToJSON(fmt.Appendf(nil, paperStatusYAML, n.address, n.name, n.kubelet.port(), runtime.GOARCH, now))
	if err != nil {
		return err
	}
	if _, err := n.client.Resource(nodes).Create(ctx, &node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make a node: %w", err)
	}
	if _, err := n.client.Resource(nodes).Patch(ctx, n.name, types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		return fmt.Errorf("report that the node is ready: %w", err)
	}
	return n.renew(ctx)
}

// live renews the lease and runs the pods until ctx is done.
func (n *paperNode) live(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.kubelet.run(ctx)
	}()
	tick := time.NewTicker(leaseTime)
	defer tick.Stop()
	var renewed error
	for {
		select {
		case <-ended:
			return renewed
		case <-tick.C:
			renewed = n.renew(ctx)
		}
	}
}

func (n *paperNode) renew(ctx context.Context) error {
	lease := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": n.name, "namespace": leaseNamespace},
		"spec": map[string]any{"holderIdentity": n.name, "leaseDurationSeconds": int64(4 * leaseTime / time.Second),
			"renewTime": time.Now().UTC().Format(metav1.RFC3339Micro)}}}
	_, err := n.client.Resource(leases).Namespace(leaseNamespace).Apply(ctx, n.name, lease, metav1.ApplyOptions{FieldManager: "hone-bench", Force: true})
	return err
}

// remove ends the goroutines of the node and deletes it. It returns the errors of its life, too.
func (n *paperNode) remove() error {
	n.cancel()
	err := <-n.done
	n.kubelet.close()
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	deleted := func(c dynamic.ResourceInterface) error {
		if err := c.Delete(ctx, n.name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}
	return errors.Join(err, deleted(n.client.Resource(nodes)), deleted(n.client.Resource(leases).Namespace(leaseNamespace)))
}

// await waits until the scheduler may use the node.
func (n *paperNode) await(ctx context.Context) error {
	return harness.Await(ctx, time.Minute, "the node to be usable", func() error {
		got, err := n.client.Resource(nodes).Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if taints, _, _ := unstructured.NestedSlice(got.Object, "spec", "taints"); len(taints) != 1 {
			return fmt.Errorf("its taints are %v", taints)
		}
		return nil
	})
}
