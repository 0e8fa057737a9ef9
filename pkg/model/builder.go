package model

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
	// Replicas is the number of pods, each with a cache of its own; zero means one.
	Replicas int `json:",omitempty"`
	// Privileged lets the pod have the rights of its node's root user if it can run with fewer in no other way.
	Privileged bool
}

// MostBuilderReplicas is the largest number of Replicas.
const MostBuilderReplicas = 16

// DefaultBuilderStorage is the size of the volume of a builder's cache, unless the Tiltfile names another one.
const DefaultBuilderStorage = "20Gi"
