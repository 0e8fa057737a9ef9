package model

import "slices"

// Product is the product that runs a cluster, recognised by the name of its context or cluster.
type Product string

// The products that hone distinguishes.
const (
	ProductUnknown        Product = "unknown"
	ProductHone           Product = "hone-dev" // scripts/cluster
	ProductMinikube       Product = "minikube"
	ProductDockerDesktop  Product = "docker-desktop"
	ProductMicroK8s       Product = "microk8s"
	ProductCRC            Product = "crc"
	ProductKrucible       Product = "krucible"
	ProductKIND           Product = "kind"
	ProductK3D            Product = "k3d"
	ProductRancherDesktop Product = "rancher-desktop"
	ProductColima         Product = "colima"
	ProductOrbstack       Product = "orbstack"
	ProductGKE            Product = "gke"
	ProductEKS            Product = "eks"
)

// Dev reports whether clusters of this product are meant for development, so that hone may change them without permission.
func (p Product) Dev() bool {
	switch p {
	case ProductHone, ProductMinikube, ProductDockerDesktop, ProductMicroK8s, ProductCRC, ProductKrucible, ProductKIND,
		ProductK3D, ProductRancherDesktop, ProductColima, ProductOrbstack:
		return true
	case ProductUnknown, ProductGKE, ProductEKS:
	}
	return false
}

// Cluster holds the properties of hone's cluster, as far as they are known.
type Cluster struct {
	Context   string
	Name      string
	Server    string
	Namespace string
	Product   Product
	// Version is the version of the API server ("v1.34.4"), and Arch is the architecture of the first node ("amd64").
	Version string
	Arch    string
	// Nodes is the number of nodes.
	Nodes int
	// Runtime is the container runtime of the nodes ("containerd", "docker", "cri-o").
	Runtime string
	// Registry is the registry that the cluster offers (through KEP-1755 or a similar convention).
	Registry Registry
}

// ClusterDeclaration is a cluster that the Tiltfile names: cluster(). Its objects are deployed beside the objects of the session's own cluster.
type ClusterDeclaration struct {
	// Name is the name in the Tiltfile and on screens. Context is the context of the kubeconfig, which identifies the cluster: no two
	// declarations have the same one.
	Name, Context string
	// Namespace is for objects that name none; never empty.
	Namespace string
	// Own is set for the session's own cluster, which resources name by an empty K8sTarget.Cluster.
	Own bool
}

// DeclaredOn returns the resources that a cluster may hold, which is named as in K8sTarget: those that are deployed to it, and those that are
// deployed to none.
func DeclaredOn(manifests []Manifest, on string) []Manifest {
	return slices.DeleteFunc(slices.Clone(manifests), func(m Manifest) bool { return m.IsK8s() && m.Cluster() != on })
}

// Capabilities are the versions and APIs that a cluster serves, as the templates of Helm charts see them.
type Capabilities struct {
	// KubeVersion is the version of the API server ("v1.34.4").
	KubeVersion string
	// APIVersions are the versions of all groups, and their kinds ("apps/v1", "apps/v1/Deployment").
	APIVersions []string
}

// Beyond reports whether a cluster serves anything that another answer lacks, or has another version. What is no longer
// served does not count: a group is left out while the server behind it is down.
func (c Capabilities) Beyond(other Capabilities) bool {
	if c.Unknown() {
		return false
	}
	if c.KubeVersion != other.KubeVersion {
		return true
	}
	known := make(map[string]bool, len(other.APIVersions))
	for _, v := range other.APIVersions {
		known[v] = true
	}
	return slices.ContainsFunc(c.APIVersions, func(v string) bool { return !known[v] })
}

// Unknown reports whether the cluster has not said what it serves.
func (c Capabilities) Unknown() bool { return c.KubeVersion == "" }

// DeliveryMethod is a way to deliver images to the cluster.
type DeliveryMethod string

// The ways, fastest first.
const (
	DeliverShared     DeliveryMethod = "shared engine"     // the builder is the cluster's own engine
	DeliverRegistry   DeliveryMethod = "local registry"    // push to the registry that the cluster offers
	DeliverKIND       DeliveryMethod = "kind load"         // load into the nodes of a kind cluster
	DeliverK3D        DeliveryMethod = "k3d image import"  // the same for k3d
	DeliverContainerd DeliveryMethod = "containerd import" // import into the containerd of the only node, on this machine
	DeliverPush       DeliveryMethod = "push"              // push to default_registry, or to the registry in the name
)
