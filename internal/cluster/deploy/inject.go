package deploy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/jsonpath"
	"github.com/hone-dev/hone/pkg/model"
)

// InjectRequest describes a declared resource to Inject.
type InjectRequest struct {
	// Resource is the resource that the objects belong to.
	Resource model.ManifestName
	// Project is the ID of the session's project. If it is empty, objects get no project label.
	Project string
	// Holder names the place that deploys the objects. If it is empty, they name none.
	Holder string
	// ApplySet is the ID of the ApplySet that the objects belong to; empty for none.
	ApplySet string
	// Namespace is for namespaced objects whose YAML names none; empty means "default".
	Namespace string
	Target    model.K8sTarget
	// Images are the resource's images, including base images. Results holds their builds by ImageTarget.Ref.
	Images  []model.ImageTarget
	Results map[string]model.ImageResult
	// Synclet, if not nil, adds the synclet to the containers of some images.
	Synclet *SyncletInjection
	// plain is set by Render.
	plain bool
}

// Inject returns the desired objects of a resource in the order of the target. It replaces the image references of the
// YAML with the built images, adds the synclet where requested, adds hone's labels and hashes, and fills in the
// namespace. The same request always gives the same objects, and Inject does not change the request. The mapper
// determines which kinds are namespaced; nil means a session without a cluster. Kinds that are unknown to the mapper
// and not defined in the target count as namespaced; Apply corrects that once the kind exists.
//
// Errors name the object. An image that no object uses is a problem.Problem ("Docker image missing from yaml").
func Inject(req InjectRequest, mapper meta.RESTMapper) ([]*unstructured.Unstructured, error) {
	images, err := newImageSet(req.Images, req.Results)
	if err != nil {
		return nil, err
	}
	images.unbuilt = req.plain
	objects := make([]*unstructured.Unstructured, 0, len(req.Target.Objects))
	for _, o := range req.Target.Objects {
		u, err := parse(o)
		if err != nil {
			return nil, err
		}
		objects = append(objects, u)
	}
	in := injector{req: req, images: images, scopes: newScopes(mapper, objects)}
	for i, u := range objects {
		if err := in.object(u, req.Target.Objects[i].ID()); err != nil {
			return nil, fmt.Errorf("%s: %w", title(IDOf(u)), err)
		}
	}
	if err := images.missing(); err != nil {
		return nil, err
	}
	return objects, nil
}

// injector holds the state that all objects of one Inject call share.
type injector struct {
	req    InjectRequest
	images *imageSet
	scopes scopes
}

// object injects into one object. declared is its identity in locators.
func (in *injector) object(u *unstructured.Unstructured, declared model.ObjectID) error {
	if err := model.CheckPolicies(u.GetAnnotations()); err != nil {
		return err
	}
	if err := in.placeInNamespace(u); err != nil {
		return err
	}
	injected, err := in.built(u, declared)
	if err != nil || in.req.plain {
		return err
	}
	for _, spec := range podSpecs(u) {
		if err := in.synclet(spec); err != nil {
			return err
		}
	}
	if gvk := u.GroupVersionKind(); injected && gvk.Group == "apps" && gvk.Kind == "StatefulSet" {
		if spec := field(u.Object, "spec"); spec != nil {
			spec["podManagementPolicy"] = "Parallel"
		}
	}
	return mark(u, in.req.Resource, maker{in.req.Project, in.req.Holder, in.req.ApplySet})
}

// built injects the built images into one object, and reports whether a pod of it runs one.
func (in *injector) built(u *unstructured.Unstructured, declared model.ObjectID) (injected bool, err error) {
	for _, spec := range podSpecs(u) {
		found, err := in.podSpec(spec)
		if err != nil {
			return false, err
		}
		injected = injected || found
	}
	return injected, in.located(u, declared)
}

// placeInNamespace sets the session's namespace on namespaced objects that have none and removes the namespace from
// cluster-scoped objects.
func (in *injector) placeInNamespace(u *unstructured.Unstructured) error {
	namespaced, err := in.scopes.namespaced(u.GroupVersionKind())
	switch {
	case err != nil:
		return err
	case !namespaced:
		unstructured.RemoveNestedField(u.Object, "metadata", "namespace")
	case u.GetNamespace() != "" || in.req.plain && in.req.Namespace == "":
	default:
		u.SetNamespace(defaultNamespace(in.req.Namespace))
	}
	return nil
}

func defaultNamespace(ns string) string {
	if ns == "" {
		return "default"
	}
	return ns
}

// podSpec injects into one pod specification and reports whether it runs an image that hone built.
func (in *injector) podSpec(spec map[string]any) (bool, error) {
	injected := false
	for _, list := range containerLists {
		for _, c := range itemsOf(spec, list) {
			found, err := in.container(c)
			if err != nil {
				return false, err
			}
			injected = injected || found
		}
	}
	for _, v := range itemsOf(spec, "volumes") {
		im := field(v, "image")
		ref := text(im, "reference")
		if ref == "" {
			continue
		}
		cluster, b, err := in.images.replace(ref)
		if err != nil {
			return false, err
		}
		if b != nil {
			im["reference"], im["pullPolicy"], injected = cluster, "IfNotPresent", true
		}
	}
	return injected, nil
}

// container injects into one container and reports whether it runs an image that hone built.
func (in *injector) container(c map[string]any) (bool, error) {
	for _, env := range itemsOf(c, "env") {
		if b := in.images.match(text(env, "value")); b != nil && b.target.MatchInEnvVars {
			cluster, _, err := in.images.replace(text(env, "value"))
			if err != nil {
				return false, err
			}
			env["value"] = cluster
		}
	}
	ref := text(c, "image")
	if ref == "" {
		return false, nil
	}
	cluster, b, err := in.images.replace(ref)
	if err != nil || b == nil {
		return false, err
	}
	c["image"], c["imagePullPolicy"] = cluster, "IfNotPresent"
	if b.target.Entrypoint != nil {
		c["command"] = anyList(b.target.Entrypoint)
	}
	if args := b.target.ContainerArgs; args != nil {
		c["args"] = anyList(*args)
	}
	return true, nil
}

// located injects at the paths that the target's locators give for the object.
func (in *injector) located(u *unstructured.Unstructured, declared model.ObjectID) error {
	for _, l := range in.req.Target.ImageLocators {
		if l.Object != declared {
			continue
		}
		path, err := jsonpath.Parse(l.Path)
		if err != nil {
			return err
		}
		visit := in.locatedString
		if l.RepoField != "" {
			visit = func(holder map[string]any, v any, _ func(any)) error {
				return in.locatedMap(holder, v, l.RepoField, l.TagField)
			}
		}
		if err := path.EachIn(u.Object, visit); err != nil {
			return err
		}
	}
	return nil
}

func (in *injector) locatedString(holder map[string]any, v any, set func(any)) error {
	ref, ok := v.(string)
	if !ok || in.images.isResult(ref) {
		return nil
	}
	cluster, b, err := in.images.replace(ref)
	if b != nil {
		set(cluster)
		pullIfNotPresent(holder)
	}
	return err
}

// pullIfNotPresent corrects the pull policy next to an image, because the built image need not be in any registry. It
// does not add a missing policy, because the kind's schema may not have the field.
func pullIfNotPresent(holder map[string]any) {
	for _, name := range []string{"imagePullPolicy", "pullPolicy"} {
		if text(holder, name) == "Always" {
			holder[name] = "IfNotPresent"
		}
	}
}

func (in *injector) locatedMap(holder map[string]any, v any, repoField, tagField string) error {
	m, _ := v.(map[string]any)
	ref := text(m, repoField)
	if ref == "" {
		return nil
	}
	if tag := text(m, tagField); tag != "" {
		ref += ":" + tag
	}
	cluster, b, err := in.images.replace(ref)
	if err != nil || b == nil {
		return err
	}
	pullIfNotPresent(holder)
	pullIfNotPresent(m)
	repo, tag := splitTag(cluster)
	m[repoField] = repo
	if tagField != "" {
		m[tagField] = tag
	} else {
		m[repoField] = cluster
	}
	return nil
}

// splitTag splits "host:5000/name:tag" into name and tag. For a reference by digest the tag is empty.
func splitTag(ref string) (name, tag string) {
	for i := len(ref) - 1; i >= 0 && ref[i] != '/' && ref[i] != '@'; i-- {
		if ref[i] == ':' {
			return ref[:i], ref[i+1:]
		}
	}
	return ref, ""
}

func anyList(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// scopes determines which kinds are namespaced.
type scopes struct {
	mapper   meta.RESTMapper
	declared map[schema.GroupKind]bool // by the CRDs among the objects
}

func newScopes(mapper meta.RESTMapper, objects []*unstructured.Unstructured) scopes {
	s := scopes{mapper: mapper, declared: map[schema.GroupKind]bool{}}
	for _, u := range objects {
		if gk, ok := definedKind(u); ok {
			s.declared[gk] = text(field(u.Object, "spec"), "scope") != "Cluster"
		}
	}
	return s
}

// clusterKinds are the cluster-scoped built-in kinds that projects commonly declare, for sessions without a cluster.
var clusterKinds = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"CustomResourceDefinition": true, "StorageClass": true, "PriorityClass": true, "IngressClass": true,
	"RuntimeClass": true, "APIService": true, "MutatingWebhookConfiguration": true, "CSIDriver": true,
	"ValidatingWebhookConfiguration": true, "ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true,
}

// namespaced reports whether the kind is namespaced. It returns true if that is unknown.
func (s scopes) namespaced(gvk schema.GroupVersionKind) (bool, error) {
	if ns, ok := s.declared[gvk.GroupKind()]; ok {
		return ns, nil
	}
	if s.mapper == nil {
		return !model.BuiltinGroup(gvk.Group) || !clusterKinds[gvk.Kind], nil
	}
	m, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	switch {
	case meta.IsNoMatchError(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("look up kind %s: %w", gvk.Kind, err)
	}
	return m.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// definedKind returns the kind that u defines, if it is a CustomResourceDefinition.
func definedKind(u *unstructured.Unstructured) (schema.GroupKind, bool) {
	gvk := u.GroupVersionKind()
	if gvk.Group != "apiextensions.k8s.io" || gvk.Kind != "CustomResourceDefinition" {
		return schema.GroupKind{}, false
	}
	spec := field(u.Object, "spec")
	gk := schema.GroupKind{Group: text(spec, "group"), Kind: text(field(spec, "names"), "kind")}
	return gk, gk.Kind != ""
}
