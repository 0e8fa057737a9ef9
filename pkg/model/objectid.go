package model

import (
	"cmp"
	"slices"
	"strings"
)

// ObjectID identifies an object over time: group, kind, namespace and name.
type ObjectID struct {
	Group     string
	Kind      string
	Namespace string
	Name      string
}

// String returns "kind/namespace/name", or "kind/name" where there is no namespace, in lower-case kind.
func (id ObjectID) String() string {
	s := strings.ToLower(id.Kind) + "/"
	if id.Namespace != "" {
		s += id.Namespace + "/"
	}
	return s + id.Name
}

// RunsPods reports whether objects of this kind, which is built in, make pods or are pods.
func (id ObjectID) RunsPods() bool {
	switch id.Group {
	case "apps", "batch":
		return true
	case "":
		return id.Kind == "Pod" || id.Kind == "ReplicationController"
	}
	return false
}

// servingKinds are the built-in kinds whose pods stay: clients may depend on them.
var servingKinds = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Pod"}

// Serves reports whether the pods of an object serve for as long as it exists. Jobs end on their own, and custom kinds are
// unknown to hone.
func (id ObjectID) Serves() bool {
	return BuiltinGroup(id.Group) && slices.Contains(servingKinds, id.Kind)
}

// BuiltinGroup reports whether Kubernetes itself defines the kinds of a group.
func BuiltinGroup(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy", "extensions":
		return true
	}
	return strings.HasSuffix(group, ".k8s.io")
}

// kindOrder is the order in which objects that are ready at the same time are started.
var kindOrder = []string{"Namespace", "ResourceQuota", "LimitRange", "StorageClass", "CustomResourceDefinition",
	"PriorityClass", "RuntimeClass", "IngressClass", "MutatingWebhookConfiguration", "ServiceAccount", "Role",
	"ClusterRole", "RoleBinding", "ClusterRoleBinding", "PersistentVolume", "PersistentVolumeClaim", "ConfigMap",
	"Secret", "Service", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "CronJob", "PodDisruptionBudget"}

var kindRanks = func() map[string]int {
	ranks := make(map[string]int, len(kindOrder))
	for i, k := range kindOrder {
		ranks[k] = i
	}
	return ranks
}()

// rank returns the place of a kind in kindOrder. Kinds that are not listed come last.
func rank(kind string) int {
	if r, ok := kindRanks[kind]; ok {
		return r
	}
	return len(kindOrder)
}

// Compare orders identities as their objects are started: by the order of kinds, then by name, namespace, kind and group.
func (id ObjectID) Compare(o ObjectID) int {
	return cmp.Or(cmp.Compare(rank(id.Kind), rank(o.Kind)), cmp.Compare(id.Name, o.Name),
		cmp.Compare(id.Namespace, o.Namespace), cmp.Compare(id.Kind, o.Kind), cmp.Compare(id.Group, o.Group))
}
