package builderpod

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// Standing is a Deployment of a builder that is in the cluster.
type Standing struct {
	Name string
	Mode Mode
	// Arch is the architecture for which it builds; empty for any.
	Arch string
	// Node is the node on which the daemon runs. Where it does not run, Why is the reason.
	Node, Why string
}

// String is for people: "rootless, on node a".
func (s Standing) String() string {
	text := string(s.Mode)
	if s.Arch != "" {
		text += ", for " + s.Arch
	}
	if s.Node != "" {
		return text + ", on node " + s.Node
	}
	return text + ", not ready: " + s.Why
}

// Standing returns all replicas of all builders in the namespace of the daemon, by name.
func (d *Daemon) Standing(ctx context.Context) (out []Standing, err error) {
	of := metav1.ListOptions{LabelSelector: partLabel + "=" + partOf}
	all, err := d.kube.Dynamic().Resource(deployments).Namespace(d.namespace).List(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("look for builders: %w", d.kube.Explain(err))
	}
	running, err := d.kube.Dynamic().Resource(pods).Namespace(d.namespace).List(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("look for the pods of builders: %w", d.kube.Explain(err))
	}
	for _, o := range all.Items {
		s := Standing{Name: o.GetName(), Mode: Mode(o.GetAnnotations()[modeAnnotation]), Why: "it has no pod"}
		s.Arch, _, _ = unstructured.NestedString(o.Object, "spec", "template", "spec", "nodeSelector", model.NodeArch)
		for _, pod := range running.Items {
			if pod.GetLabels()[nameLabel] == s.Name && s.Node == "" {
				s.Node, s.Why = place(pod)
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Standing) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// place returns the node of a pod that is ready, or why it is not.
func place(pod unstructured.Unstructured) (node, why string) {
	why, _, _ = unstructured.NestedString(pod.Object, "status", "phase")
	conditions, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		message, _ := condition["message"].(string)
		switch {
		case condition["type"] == "Ready" && condition["status"] == "True":
			node, _, _ = unstructured.NestedString(pod.Object, "spec", "nodeName")
			return node, ""
		case condition["type"] == "PodScheduled" && message != "":
			return "", why + ": " + message
		}
	}
	return "", why
}
