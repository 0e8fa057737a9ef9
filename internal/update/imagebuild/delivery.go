package imagebuild

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

// Plan describes how an image gets to the cluster.
type Plan struct {
	Method model.DeliveryMethod
	// Registry determines the names of images; empty if they keep theirs.
	Registry model.Registry
	// Share is true for an image that other machines can find in the registry by the inputs of its build: the Tiltfile names the registry.
	Share bool
	// Why is one sentence for the user.
	Why string
	// Cluster is the cluster's name in its own tool (kind, k3d).
	Cluster string
	// Socket is the containerd socket to import into.
	Socket string
	// Base is true for an image that others are based on: an engine that builds these must have it, too.
	Base bool
}

// throughEngine reports whether images can get to the cluster through the engine only: it is the cluster's own, or has its nodes.
func (p Plan) throughEngine() bool {
	return slices.Contains([]model.DeliveryMethod{model.DeliverShared, model.DeliverKIND, model.DeliverK3D}, p.Method)
}

// inNodes reports whether images are in the containerd of nodes that this machine can ask.
func (p Plan) inNodes() bool {
	return slices.Contains([]model.DeliveryMethod{model.DeliverContainerd, model.DeliverKIND, model.DeliverK3D}, p.Method)
}

// Delivery chooses how images get to a cluster. It holds the relevant facts about this machine, so that choosing does no
// I/O; Probe fills it in.
type Delivery struct {
	// Addresses are this machine's IP addresses and names.
	Addresses []string
	// ContainerdSocket belongs to a containerd that runs pods and lets this process in; empty for none.
	ContainerdSocket string
	// ActiveMinikube is the minikube profile whose engine the environment points at.
	ActiveMinikube string
}

// Choose returns the fastest way to deliver images of the target to the cluster. The registry that the cluster announces
// takes precedence over the Tiltfile's default_registry.
func (d Delivery) Choose(cluster model.Cluster, engine docker.Info, defaultRegistry model.Registry, target model.ImageTarget) Plan {
	plan := d.choose(cluster, engine, defaultRegistry, target)
	plan.Share = !plan.Registry.Empty() && plan.Registry.Host == defaultRegistry.Host && sharable(target)
	if c := target.Custom; c != nil && (c.DisablePush || c.SkipsLocalDocker) {
		plan.Method = model.DeliverNone
		plan.Why = "the build command of " + target.Ref + " delivers the image itself"
	}
	return plan
}

func (d Delivery) choose(cluster model.Cluster, engine docker.Info, defaultRegistry model.Registry, target model.ImageTarget) Plan {
	switch {
	case defaultRegistry.Kept():
		return Plan{Method: model.DeliverPush, Registry: defaultRegistry, Why: "hone keeps a registry in the cluster: " + defaultRegistry.Host}
	case d.shared(cluster, engine):
		return Plan{Method: model.DeliverShared, Why: "the engine at " + engine.Host + " is the cluster's own"}
	case !cluster.Registry.Empty():
		why := "the cluster announces the registry " + cluster.Registry.Host
		if !defaultRegistry.Empty() && defaultRegistry.Host != cluster.Registry.Host {
			why += ", which takes precedence over default_registry " + defaultRegistry.Host
		}
		registry := cluster.Registry
		if registry.SingleName == "" && registry.Host == defaultRegistry.Host {
			registry.SingleName = defaultRegistry.SingleName
		}
		return Plan{Method: model.DeliverRegistry, Registry: registry, Why: why}
	case !defaultRegistry.Empty():
		return Plan{Method: model.DeliverPush, Registry: defaultRegistry, Why: "default_registry is " + defaultRegistry.Host}
	case cluster.Product == model.ProductKIND:
		return Plan{Method: model.DeliverKIND, Cluster: toolName(cluster, "kind-"), Why: "the kind cluster has no registry"}
	case cluster.Product == model.ProductK3D:
		return Plan{Method: model.DeliverK3D, Cluster: toolName(cluster, "k3d-"), Why: "the k3d cluster has no registry"}
	case d.singleNodeHere(cluster):
		return Plan{Method: model.DeliverContainerd, Socket: d.ContainerdSocket,
			Why: "the cluster is this machine, and its containerd can be reached at " + d.ContainerdSocket}
	}
	return Plan{Method: model.DeliverPush,
		Why: fmt.Sprintf("the cluster announces no registry: %s is pushed to the registry in its name", target.Ref)}
}

// toolName returns the cluster's name in kind or k3d.
func toolName(cluster model.Cluster, prefix string) string {
	for _, name := range []string{cluster.Name, cluster.Context} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
			return rest
		}
	}
	if cluster.Name != "" {
		return cluster.Name
	}
	return cluster.Context
}

// shared reports whether the engine that builds is the one that runs the cluster's pods.
func (d Delivery) shared(cluster model.Cluster, engine docker.Info) bool {
	if cluster.Runtime != "docker" {
		return false
	}
	switch cluster.Product {
	case model.ProductDockerDesktop:
		return engine.Product == "Docker Desktop"
	case model.ProductRancherDesktop:
		return strings.Contains(engine.Name, "rancher-desktop") || strings.Contains(engine.Host, "/.rd/")
	case model.ProductColima:
		return strings.Contains(engine.Name, "colima") || strings.Contains(engine.Host, "/.colima/")
	case model.ProductOrbstack:
		return engine.Product == "OrbStack" || strings.Contains(engine.Host, "/.orbstack/")
	case model.ProductMinikube:
		profile := []string{cluster.Name, cluster.Context}
		active := d.ActiveMinikube != "" && slices.Contains(profile, d.ActiveMinikube)
		return active || slices.Contains(profile, engine.Name) || sameMachine(engine.Host, cluster.Server)
	case model.ProductKIND, model.ProductK3D, model.ProductGKE, model.ProductEKS:
		return false
	case model.ProductUnknown, model.ProductHone, model.ProductMicroK8s, model.ProductCRC, model.ProductKrucible:
		// These may run on this machine itself.
	}
	return cluster.Nodes == 1 && d.here(cluster.Server) && strings.HasPrefix(engine.Host, "unix://")
}

// singleNodeHere reports whether the cluster is one node on this machine whose containerd lets this process in. Products
// that keep their node in a container or a virtual machine of its own do not count, whatever address they listen on.
func (d Delivery) singleNodeHere(cluster model.Cluster) bool {
	switch cluster.Product {
	case model.ProductUnknown, model.ProductHone, model.ProductMicroK8s, "":
	default:
		return false
	}
	reached := d.ContainerdSocket != "" && cluster.Runtime == "containerd"
	return reached && cluster.Nodes == 1 && d.here(cluster.Server)
}

// sameMachine reports whether two addresses name the same machine, and not this one: there, different ones may share an address.
func sameMachine(a, b string) bool {
	host := hostOf(a)
	return host != "" && host == hostOf(b) && !loopback(host)
}

// here reports whether the API server's address is this machine.
func (d Delivery) here(server string) bool {
	host := hostOf(server)
	return loopback(host) || host != "" && slices.Contains(d.Addresses, host)
}

// hostOf returns the host of a URL, empty for sockets and invalid URLs.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "unix" || u.Scheme == "npipe" {
		return ""
	}
	return u.Hostname()
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
