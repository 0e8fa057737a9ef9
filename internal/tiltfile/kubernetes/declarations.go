// Package kubernetes implements the builtins for Kubernetes: k8s_yaml(), k8s_resource(), k8s_kind(),
// k8s_custom_deploy(), port forwards. It assembles the objects into resources.
package kubernetes

import (
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/image"
	"github.com/hone-dev/hone/internal/tiltfile/k8sobject"
	"github.com/hone-dev/hone/internal/tiltfile/kubecontext"
	"github.com/hone-dev/hone/internal/tiltfile/resource"
)

// Declarations are the Tiltfile's declarations for Kubernetes. They are used by one goroutine.
type Declarations struct {
	*eval.Evaluation
	images   *image.Declarations
	gate     *kubecontext.Gate
	defaults *resource.Defaults
	Objects  objectIndex
	// kinds are the k8s_kind and k8s_image_json_path calls in order, customs the k8s_custom_deploy calls.
	kinds   []*kindRule
	customs []*customDeploy
	// options are the k8s_resource calls in order.
	options []*resourceOptions
	nameFn  *nameFunction
	// ruled are the calls among kinds that apply to an object.
	ruled map[*k8sobject.Object][]fault.Call
}

// New returns the empty declarations of an evaluation. Objects run the given images, in clusters that the gate knows; in the session's
// own cluster, objects without a namespace are in the given one.
func New(e *eval.Evaluation, images *image.Declarations, gate *kubecontext.Gate, defaults *resource.Defaults, namespace string) *Declarations {
	return &Declarations{Evaluation: e, images: images, gate: gate, defaults: defaults, Objects: newObjectIndex(gate, namespace), ruled: map[*k8sobject.Object][]fault.Call{}}
}

// Builtins are the functions that declare objects and resources of Kubernetes.
func (d *Declarations) Builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"k8s_yaml":                      d.k8sYAML,
		"filter_yaml":                   filterYAML,
		"workload_to_resource_function": d.workloadFunction,
		"k8s_resource":                  d.k8sResource,
		"port_forward":                  newPortForward,
		"k8s_kind":                      d.k8sKind,
		"k8s_image_json_path":           d.k8sImageJSONPath,
		"k8s_custom_deploy":             d.k8sCustomDeploy,
		"ref":                           newFieldRef,
	}
}

// Names returns the names of the objects that are declared so far, of their namespaces, of what deploys itself, and the references of the
// images that the objects run.
func (d *Declarations) Names() (names []string) {
	for _, o := range d.Objects.List {
		names = append(append(names, o.Name, o.Namespace), o.Images...)
	}
	for _, x := range d.customs {
		names = append(names, x.name)
	}
	return names
}
