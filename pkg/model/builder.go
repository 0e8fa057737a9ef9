package model

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
)

// BuilderInCluster chooses, as a Builder's At, a builder that hone runs in the cluster. docker buildx has the same word for one.
const BuilderInCluster = "kubernetes"

// Builder builds images in place of the container engine.
type Builder struct {
	// At is BuilderInCluster, the address of a BuildKit daemon, or the name of a builder that docker buildx knows; empty for none.
	At string
	// Pod says how hone runs the builder; for BuilderInCluster only.
	Pod BuilderPod
}

// BuilderPod is the pod of a builder that hone runs in the cluster.
type BuilderPod struct {
	// Cluster is the context of a declared cluster, as in K8sTarget; empty for the session's own.
	Cluster string `json:",omitempty"`
	// Namespace is empty for the namespace of the session.
	Namespace string
	// Image is an image of BuildKit; empty for the one that fits how the pod runs.
	Image string
	// Requests and Limits are quantities of resources, by name: cpu, memory, ephemeral-storage.
	Requests, Limits map[string]string
	// Storage is the size of the volume of the cache ("20Gi"), and StorageClass its class. Without a size there is a volume of DefaultBuilderStorage if
	// the cluster makes volumes by itself, and otherwise the cache lives as long as the pod.
	Storage, StorageClass string
	// NodeSelector are labels of the nodes on which the pod may run.
	NodeSelector map[string]string
	// Config is the content of the daemon's buildkitd.toml; empty for none.
	Config string
	// Replicas is the number of pods, for each platform, each with a cache of its own; zero means one.
	Replicas int `json:",omitempty"`
	// Registry keeps a registry of images beside the pod, and RegistryPod are the settings of its own pod.
	Registry    bool        `json:",omitempty"`
	RegistryPod RegistryPod `json:",omitzero"`
	// Platforms ("linux/arm64") are those for which there are pods of their own, on nodes of the architecture; empty for pods on any node.
	Platforms []string `json:",omitempty"`
	// Privileged lets the pod have the rights of its node's root user if it can run with fewer in no other way.
	Privileged bool
}

// RegistryPod is the pod of a registry that hone keeps.
type RegistryPod struct {
	// Image is the image of the pod; empty for DefaultRegistryImage.
	Image string
	// Storage is the size of the volume of the images ("10Gi"), and StorageClass its class; without a size, the images live as long as the pod.
	Storage, StorageClass string
}

// BuilderReplica is one of the pods of a builder.
type BuilderReplica struct {
	// Arch is the architecture for which it builds; empty for any.
	Arch string
	// Number begins at zero for each architecture.
	Number int
	// Pod are the settings of the pod. All pods of the architecture have the same.
	Pod BuilderPod
}

// All returns the pods of a builder, by platform, in the order of the platforms.
func (p BuilderPod) All() (out []BuilderReplica) {
	platforms := p.Platforms
	if len(platforms) == 0 {
		platforms = []string{""}
	}
	for _, platform := range platforms {
		one := p
		one.Platforms = nil
		os, arch, _ := strings.Cut(platform, "/")
		if arch != "" {
			one.NodeSelector = map[string]string{}
			maps.Copy(one.NodeSelector, p.NodeSelector)
			one.NodeSelector[NodeOS], one.NodeSelector[NodeArch] = os, arch
		}
		for number := range max(1, p.Replicas) {
			out = append(out, BuilderReplica{Arch: arch, Number: number, Pod: one})
		}
	}
	return out
}

// NodeOS and NodeArch are the labels of nodes for their operating system and their architecture.
const (
	NodeOS   = "kubernetes.io/os"
	NodeArch = "kubernetes.io/arch"
)

// MostBuilderReplicas is the largest number of Replicas.
const MostBuilderReplicas = 16

// DefaultBuilderStorage is the size of the volume of a builder's cache, unless the Tiltfile names another one.
const DefaultBuilderStorage = "20Gi"

// DefaultRegistryImage is the image of a registry that hone keeps, unless the Tiltfile names another one.
const DefaultRegistryImage = "docker.io/library/registry:3"

const (
	// KeptRegistryName is the name of a registry that hone keeps in a namespace, and of its Service.
	KeptRegistryName = "hone-registry"
	// KeptRegistryPort is the port of that Service.
	KeptRegistryPort = 5000
	// keptPorts is the number of ports of nodes, from the first one on, of which each namespace has one: below those that Kubernetes gives to
	// Services (30000) and kernels to connections (32768).
	keptPorts, firstKeptPort = 5000, 25000
)

// KeptRegistry returns the registry that hone keeps in a namespace. The pods of its cluster reach it by the name of its Service, and its nodes by a
// port of their loopback interface.
func KeptRegistry(namespace string, pod RegistryPod) Registry {
	namespace, pod.Image = cmp.Or(namespace, "default"), cmp.Or(pod.Image, DefaultRegistryImage)
	return Registry{Host: fmt.Sprintf("%s.%s.svc:%d", KeptRegistryName, namespace, KeptRegistryPort), HostFromCluster: fmt.Sprintf("localhost:%d", KeptRegistryNodePort(namespace)), Pod: pod}
}

// KeptRegistryNodePort returns the port of the nodes under which they reach the registry of a namespace.
func KeptRegistryNodePort(namespace string) int {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(namespace)) // never an error
	return firstKeptPort + int(sum.Sum32()%keptPorts)
}

// KeptIn returns the namespace of a registry that hone keeps, by its address for pods; ok is false for another registry.
func KeptIn(host string) (namespace string, ok bool) {
	rest, ours := strings.CutPrefix(host, KeptRegistryName+".")
	namespace, ends := strings.CutSuffix(rest, fmt.Sprintf(".svc:%d", KeptRegistryPort))
	if whole := ours && ends; !whole {
		return "", false
	}
	return namespace, namespace != ""
}
