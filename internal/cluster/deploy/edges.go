package deploy

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/pkg/model"
)

// index finds the objects of a set by identity and by the ways in which other objects refer to them.
type index struct {
	byID map[model.ObjectID][]int
	// crds maps kinds to their definitions.
	crds map[schema.GroupKind]int
	// limits are the quotas and limit ranges of a namespace, bindings the role bindings by "namespace/serviceaccount".
	limits, bindings map[string][]int
}

func newIndex(objects []*unstructured.Unstructured) *index {
	x := &index{byID: map[model.ObjectID][]int{}, crds: map[schema.GroupKind]int{},
		limits: map[string][]int{}, bindings: map[string][]int{}}
	for i, u := range objects {
		id := IDOf(u)
		x.byID[id] = append(x.byID[id], i)
		if gk, ok := definedKind(u); ok {
			x.crds[gk] = i
		}
		switch {
		case id.Group == "" && (id.Kind == "ResourceQuota" || id.Kind == "LimitRange"):
			x.limits[id.Namespace] = append(x.limits[id.Namespace], i)
		case isBinding(id):
			for _, account := range subjects(u) {
				x.bindings[account] = append(x.bindings[account], i)
			}
		}
	}
	return x
}

// earlierTwin returns the nearest object before i with the same identity: such objects are applied in the order of the
// YAML.
func (x *index) earlierTwin(i int, id model.ObjectID) (int, bool) {
	at := slices.Index(x.byID[id], i)
	if at <= 0 {
		return 0, false
	}
	return x.byID[id][at-1], true
}

// find returns the indexes of the object with the given identity.
func (x *index) find(group, kind, namespace, name string) []int {
	if name == "" {
		return nil
	}
	return x.byID[model.ObjectID{Group: group, Kind: kind, Namespace: namespace, Name: name}]
}

// needs returns the indexes of u's dependencies, in no particular order and with repetitions.
func (x *index) needs(u *unstructured.Unstructured) []int {
	id := IDOf(u)
	var deps []int
	if id.Namespace != "" {
		deps = append(deps, x.find("", "Namespace", "", id.Namespace)...)
	}
	if crd, ok := x.crds[groupKind(id)]; ok {
		deps = append(deps, crd)
	}
	specs := podSpecs(u)
	for _, spec := range specs {
		deps = append(deps, x.podNeeds(id.Namespace, spec)...)
	}
	if len(specs) > 0 {
		deps = append(deps, x.limits[id.Namespace]...)
	}
	deps = append(deps, x.kindNeeds(u, id)...)
	deps = append(deps, x.referred(u)...)
	for _, ref := range strings.Split(u.GetAnnotations()[AnnotationDependsOn], ",") {
		if on, ok := parseDependsOn(ref); ok {
			deps = append(deps, x.byID[on]...)
		}
	}
	return deps
}

// podNeeds returns the indexes of the objects that a pod specification refers to.
func (x *index) podNeeds(namespace string, spec map[string]any) []int {
	var deps []int
	need := func(kind, name string) { deps = append(deps, x.find("", kind, namespace, name)...) }
	account := text(spec, "serviceAccountName")
	if account == "" {
		account = text(spec, "serviceAccount")
	}
	need("ServiceAccount", account)
	if account != "" {
		deps = append(deps, x.bindings[namespace+"/"+account]...)
	}
	deps = append(deps, x.find("scheduling.k8s.io", "PriorityClass", "", text(spec, "priorityClassName"))...)
	deps = append(deps, x.find("node.k8s.io", "RuntimeClass", "", text(spec, "runtimeClassName"))...)
	for _, s := range itemsOf(spec, "imagePullSecrets") {
		need("Secret", text(s, "name"))
	}
	for _, v := range itemsOf(spec, "volumes") {
		need("ConfigMap", text(field(v, "configMap"), "name"))
		need("Secret", text(field(v, "secret"), "secretName"))
		need("PersistentVolumeClaim", text(field(v, "persistentVolumeClaim"), "claimName"))
		for _, source := range itemsOf(field(v, "projected"), "sources") {
			need("ConfigMap", text(field(source, "configMap"), "name"))
			need("Secret", text(field(source, "secret"), "name"))
		}
	}
	for _, list := range containerLists {
		for _, c := range itemsOf(spec, list) {
			for _, e := range itemsOf(c, "envFrom") {
				need("ConfigMap", text(field(e, "configMapRef"), "name"))
				need("Secret", text(field(e, "secretRef"), "name"))
			}
			for _, e := range itemsOf(c, "env") {
				need("ConfigMap", text(field(e, "valueFrom", "configMapKeyRef"), "name"))
				need("Secret", text(field(e, "valueFrom", "secretKeyRef"), "name"))
			}
		}
	}
	return deps
}

// kindNeeds returns the dependencies that only objects of certain kinds have.
func (x *index) kindNeeds(u *unstructured.Unstructured, id model.ObjectID) []int {
	var deps []int
	spec := field(u.Object, "spec")
	switch id.Kind {
	case "RoleBinding", "ClusterRoleBinding":
		role := field(u.Object, "roleRef")
		ns := id.Namespace
		if text(role, "kind") == "ClusterRole" {
			ns = ""
		}
		deps = append(deps, x.find(text(role, "apiGroup"), text(role, "kind"), ns, text(role, "name"))...)
		for _, account := range subjects(u) {
			ns, name, _ := strings.Cut(account, "/")
			deps = append(deps, x.find("", "ServiceAccount", ns, name)...)
		}
	case "Secret":
		deps = x.find("", "ServiceAccount", id.Namespace, u.GetAnnotations()["kubernetes.io/service-account.name"])
	case "PersistentVolumeClaim":
		deps = append(x.find("storage.k8s.io", "StorageClass", "", text(spec, "storageClassName")),
			x.find("", "PersistentVolume", "", text(spec, "volumeName"))...)
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		for _, w := range itemsOf(u.Object, "webhooks") {
			s := field(w, "clientConfig", "service")
			deps = append(deps, x.find("", "Service", text(s, "namespace"), text(s, "name"))...)
		}
	case "APIService":
		s := field(spec, "service")
		deps = x.find("", "Service", text(s, "namespace"), text(s, "name"))
	case "ValidatingAdmissionPolicyBinding":
		deps = x.find(id.Group, "ValidatingAdmissionPolicy", "", text(spec, "policyName"))
	}
	return deps
}

func isBinding(id model.ObjectID) bool {
	return id.Group == "rbac.authorization.k8s.io" && (id.Kind == "RoleBinding" || id.Kind == "ClusterRoleBinding")
}

// subjects returns the service accounts of a binding as "namespace/name".
func subjects(u *unstructured.Unstructured) []string {
	var out []string
	for _, s := range itemsOf(u.Object, "subjects") {
		if text(s, "kind") != "ServiceAccount" {
			continue
		}
		ns := text(s, "namespace")
		if ns == "" {
			ns = u.GetNamespace()
		}
		out = append(out, ns+"/"+text(s, "name"))
	}
	return out
}

// parseDependsOn reads one entry of the depends-on annotation.
func parseDependsOn(ref string) (model.ObjectID, bool) {
	parts := strings.Split(strings.TrimSpace(ref), "/")
	switch {
	case len(parts) == 3:
		return model.ObjectID{Group: parts[0], Kind: parts[1], Name: parts[2]}, true
	case len(parts) == 5 && parts[1] == "namespaces":
		return model.ObjectID{Group: parts[0], Kind: parts[3], Namespace: parts[2], Name: parts[4]}, true
	}
	return model.ObjectID{}, false
}
