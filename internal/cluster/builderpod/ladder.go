package builderpod

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
)

// String is for people.
func (p Plan) String() string {
	if p.Mode == "" {
		return ""
	}
	text := string(p.Mode)
	if len(p.Against) > 0 {
		text += " (" + p.reasons() + ")"
	}
	return text
}

func (p Plan) reasons() string {
	texts := make([]string, len(p.Against))
	for i, r := range p.Against {
		texts[i] = r.String()
	}
	return strings.Join(texts, "; ")
}

// Plan asks the cluster which mode it admits, and changes nothing. Only a start shows whether the daemon runs in it. The error is a problem if
// the cluster admits none.
func (d *Daemon) Plan(ctx context.Context) (Plan, error) {
	return d.climb(ctx, func(Plan) (string, error) { return "", nil })
}

// climb returns the first mode that the cluster admits, and that try has no reason against.
func (d *Daemon) climb(ctx context.Context, try func(Plan) (why string, err error)) (Plan, error) {
	there, last, err := d.found(ctx)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Volume: d.volume(ctx), There: there}
	for _, m := range modes(d.is.BuilderPod, last) {
		plan.Mode = m
		why, err := d.refused(ctx, plan)
		if err == nil && why == "" {
			why, err = try(plan)
		}
		if err != nil || why == "" {
			return plan, err
		}
		plan.Against = append(plan.Against, Refusal{m, why})
	}
	plan.Mode = ""
	return plan, d.impossible(plan)
}

// impossible is the problem of a cluster in which no mode works.
func (d *Daemon) impossible(p Plan) error {
	mend := "let the pods of namespace " + d.namespace + " run rootless: kubectl label namespace " + d.namespace + " pod-security.kubernetes.io/enforce=privileged, or choose another with builder(\"kubernetes\", namespace=…)"
	if !d.is.Privileged {
		mend += "\nor let the builder have the rights of its node's root user: builder(\"kubernetes\", privileged=True)"
	}
	return problem.Wrap(fmt.Errorf("%s", p.reasons()), "the cluster does not let BuildKit run in namespace "+d.namespace, mend).See("builders")
}

var (
	deployments    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	pods           = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodes          = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	storageClasses = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
)

// found returns whether there is a builder, and the mode in which it runs.
func (d *Daemon) found(ctx context.Context) (there bool, last Mode, err error) {
	live, err := d.kube.Dynamic().Resource(deployments).Namespace(d.namespace).Get(ctx, d.is.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, "", nil
	case err != nil:
		return false, "", fmt.Errorf("look for the builder: %w", d.kube.Explain(err))
	}
	return true, Mode(live.GetAnnotations()[modeAnnotation]), nil
}

// defaultClass marks the class of volumes that name none.
const defaultClass = "storageclass.kubernetes.io/is-default-class"

// volume reports whether the cache gets a volume: the Tiltfile wants one, or the cluster makes one by itself. Without the right to ask, it does not.
func (d *Daemon) volume(ctx context.Context) bool {
	if d.is.Storage != "" || d.is.StorageClass != "" {
		return true
	}
	all, err := d.kube.Dynamic().Resource(storageClasses).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	for _, class := range all.Items {
		if class.GetAnnotations()[defaultClass] == "true" {
			return true
		}
	}
	return false
}

// refused returns why the cluster does not let the pod run in the mode of a plan; empty if it does, as far as can be known without a start.
func (d *Daemon) refused(ctx context.Context, p Plan) (why string, err error) {
	if p.Mode == UserNamespace {
		if why := d.nodesRefuse(ctx); why != "" {
			return why, nil
		}
	}
	text, err := json.Marshal(object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"generateName": d.is.name + "-", "namespace": d.namespace}, "spec": p.podSpec(d.is)})
	if err != nil {
		return "", fmt.Errorf("builder: %w", err)
	}
	trial := &unstructured.Unstructured{}
	if err := trial.UnmarshalJSON(text); err != nil {
		return "", fmt.Errorf("builder: %w", err)
	}
	made, err := d.kube.Dynamic().Resource(pods).Namespace(d.namespace).Create(ctx, trial, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return dropped(p.Mode, made), nil
	case noRight(err):
		return "", nil // the controller of the Deployment may have it
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		return brief(err), nil
	}
	return "", fmt.Errorf("ask whether the builder may run: %w", d.kube.Explain(err))
}

// dropped returns why a pod does not run as it should: an API server drops the fields of features that are off.
func dropped(m Mode, made *unstructured.Unstructured) string {
	host, set, _ := unstructured.NestedBool(made.Object, "spec", "hostUsers")
	if m == UserNamespace && (!set || host) {
		return "the API server does not know it"
	}
	return ""
}

// noRight reports whether the user lacks the right to make a request, which is no answer to it.
func noRight(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot create resource")
}

// brief returns the reason in a refusal: the text of the API server behind the name of the object.
func brief(err error) string {
	text := err.Error()
	if _, reason, ok := strings.Cut(text, " is forbidden: "); ok {
		return reason
	}
	return text
}

// nodesRefuse returns why no pod can have a user namespace; empty if nodes may give it one, or are not to be seen.
func (d *Daemon) nodesRefuse(ctx context.Context) string {
	all, err := d.kube.Dynamic().Resource(nodes).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(d.is.NodeSelector).String()})
	if err != nil || len(all.Items) == 0 {
		return ""
	}
	lacking := ""
	for _, n := range all.Items {
		if supportsUserNamespaces(n) {
			continue
		}
		lacking = "node " + n.GetName() + " does not support it"
	}
	return lacking
}

// supportsUserNamespaces reports whether the container runtime of a node does, with its default handler (Kubernetes 1.30 and later).
func supportsUserNamespaces(node unstructured.Unstructured) bool {
	handlers, _, _ := unstructured.NestedSlice(node.Object, "status", "runtimeHandlers")
	for _, h := range handlers {
		handler, _ := h.(map[string]any)
		name, _, _ := unstructured.NestedString(handler, "name")
		supports, _, _ := unstructured.NestedBool(handler, "features", "userNamespaces")
		if name == "" && supports {
			return true
		}
	}
	return false
}
