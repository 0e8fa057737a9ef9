package builderpod

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Standing is a Deployment of a builder that is in the cluster.
type Standing struct {
	Name string
	Mode Mode
	// Node is the node on which the daemon runs. Where it does not run, Why is the reason.
	Node, Why string
}

// String is for people: "rootless, on node a".
func (s Standing) String() string {
	if s.Node != "" {
		return fmt.Sprintf("%s, on node %s", s.Mode, s.Node)
	}
	return fmt.Sprintf("%s, not ready: %s", s.Mode, s.Why)
}

// Standing returns what is in the namespace of the daemon: all replicas of all builders, by name.
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
