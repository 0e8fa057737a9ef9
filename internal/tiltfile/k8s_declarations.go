package tiltfile

import "github.com/hone-dev/hone/internal/tiltfile/eval"

// k8sDeclarations are what the Tiltfile says about Kubernetes. They are used by one goroutine.
type k8sDeclarations struct {
	*eval.Evaluation
	images   *imageDeclarations
	defaults *resourceDefaults
	objects  objectIndex
	// kinds are the k8s_kind and k8s_image_json_path calls in order, customs those of k8s_custom_deploy.
	kinds   []*kindRule
	customs []*customDeploy
	// options are the k8s_resource calls in order.
	options []*resourceOptions
	nameFn  *nameFunction
}

// newK8sDeclarations returns the declarations of an evaluation that has just begun. Objects run the given images.
func newK8sDeclarations(e *eval.Evaluation, images *imageDeclarations, defaults *resourceDefaults) *k8sDeclarations {
	return &k8sDeclarations{Evaluation: e, images: images, defaults: defaults, objects: objectIndex{byKey: map[objectKey]*object{}}}
}

// builtins are the functions that declare objects and resources of Kubernetes.
func (d *k8sDeclarations) builtins() map[string]eval.Function {
	return map[string]eval.Function{
		"k8s_yaml":                      d.k8sYAML,
		"filter_yaml":                   filterYAML,
		"workload_to_resource_function": d.workloadFunction,
		"k8s_resource":                  d.k8sResource,
		"port_forward":                  newPortForward,
		"k8s_kind":                      d.k8sKind,
		"k8s_image_json_path":           d.k8sImageJSONPath,
		"k8s_custom_deploy":             d.k8sCustomDeploy,
	}
}
