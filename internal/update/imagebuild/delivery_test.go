package imagebuild

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/pkg/model"
)

func TestChoose(t *testing.T) {
	const sock = "/run/containerd/containerd.sock"
	local := model.Registry{Host: "localhost:5000", HostFromCluster: "registry:5000"}
	remote := model.Registry{Host: "gcr.io/shop", SingleName: "dev"}
	here := Delivery{Addresses: []string{"10.0.0.5", "devbox"}, ContainerdSocket: sock}
	unix := docker.Info{Host: "unix:///var/run/docker.sock", Name: "devbox"}
	api := model.ImageTarget{Ref: "api", Docker: &model.DockerBuild{}}
	custom := func(c model.CustomBuild) model.ImageTarget { return model.ImageTarget{Ref: "api", Custom: &c} }
	single := func(product model.Product, runtime, server string) model.Cluster {
		return model.Cluster{Product: product, Runtime: runtime, Server: server, Nodes: 1, Name: string(product)}
	}
	withRegistry := func(c model.Cluster) model.Cluster { c.Registry = local; return c }
	named := func(c model.Cluster, context, name string) model.Cluster { c.Context, c.Name = context, name; return c }
	loop := "https://127.0.0.1:6443"
	tests := []struct {
		name     string
		delivery Delivery
		cluster  model.Cluster
		engine   docker.Info
		fallback model.Registry
		target   model.ImageTarget
		want     Plan
	}{
		{"cluster's registry", here, withRegistry(single(model.ProductHone, "containerd", loop)), unix, model.Registry{}, api,
			Plan{Method: model.DeliverRegistry, Registry: local}},
		{"cluster's registry before default_registry", here, withRegistry(single(model.ProductKIND, "containerd", loop)), unix, remote, api,
			Plan{Method: model.DeliverRegistry, Registry: local}},
		{"cluster's registry is default_registry", here, withRegistry(single(model.ProductHone, "containerd", loop)), unix, local, api,
			Plan{Method: model.DeliverRegistry, Registry: local, Share: true}},
		{"hone's registry before the cluster's", here, withRegistry(single(model.ProductHone, "containerd", loop)), unix, model.KeptRegistry("shop", model.RegistryPod{}), api,
			Plan{Method: model.DeliverPush, Registry: model.KeptRegistry("shop", model.RegistryPod{}), Share: true}},
		{"default_registry", here, single(model.ProductGKE, "containerd", "https://35.1.1.1"), unix, remote, api,
			Plan{Method: model.DeliverPush, Registry: remote, Share: true}},
		{"default_registry before kind load", here, single(model.ProductKIND, "containerd", loop), unix, remote, api,
			Plan{Method: model.DeliverPush, Registry: remote, Share: true}},
		{"kind", here, named(single(model.ProductKIND, "containerd", loop), "kind-dev", "kind-dev"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverKIND, Cluster: "dev"}},
		{"old kind", here, named(single(model.ProductKIND, "containerd", loop), "kind", "kind"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverKIND, Cluster: "kind"}},
		{"k3d", here, named(single(model.ProductK3D, "containerd", loop), "k3d-dev", "k3d-dev"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverK3D, Cluster: "dev"}},
		{"single node here", here, single(model.ProductHone, "containerd", loop), unix, model.Registry{}, api,
			Plan{Method: model.DeliverContainerd, Socket: sock}},
		{"single node at our address", here, single(model.ProductUnknown, "containerd", "https://10.0.0.5:6443"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverContainerd, Socket: sock}},
		{"single node at our name", here, single(model.ProductUnknown, "containerd", "https://devbox:6443"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverContainerd, Socket: sock}},
		{"single node elsewhere", here, single(model.ProductUnknown, "containerd", "https://10.0.0.6:6443"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverPush}},
		{"single node without access", Delivery{}, single(model.ProductUnknown, "containerd", loop), unix, model.Registry{}, api,
			Plan{Method: model.DeliverPush}},
		{"two nodes here", here, model.Cluster{Product: model.ProductUnknown, Runtime: "containerd", Server: loop, Nodes: 2}, unix,
			model.Registry{}, api, Plan{Method: model.DeliverPush}},
		{"virtual machine at a loopback address", here, single(model.ProductColima, "containerd", loop), unix, model.Registry{}, api,
			Plan{Method: model.DeliverPush}},
		{"docker desktop", here, single(model.ProductDockerDesktop, "docker", "https://kubernetes.docker.internal:6443"),
			docker.Info{Product: "Docker Desktop"}, model.Registry{}, api, Plan{Method: model.DeliverShared}},
		{"docker desktop, other engine", here, single(model.ProductDockerDesktop, "docker", loop), unix, model.Registry{}, api,
			Plan{Method: model.DeliverPush}},
		{"docker desktop with kind nodes", here, single(model.ProductDockerDesktop, "containerd", loop),
			docker.Info{Product: "Docker Desktop"}, model.Registry{}, api, Plan{Method: model.DeliverPush}},
		{"shared before registries", here, withRegistry(single(model.ProductDockerDesktop, "docker", loop)),
			docker.Info{Product: "Docker Desktop"}, remote, api, Plan{Method: model.DeliverShared}},
		{"minikube by name", here, single(model.ProductMinikube, "docker", "https://192.168.49.2:8443"),
			docker.Info{Host: "tcp://127.0.0.1:32769", Name: "minikube"}, model.Registry{}, api, Plan{Method: model.DeliverShared}},
		{"minikube by address", here, single(model.ProductMinikube, "docker", "https://192.168.49.2:8443"),
			docker.Info{Host: "tcp://192.168.49.2:2376"}, model.Registry{}, api, Plan{Method: model.DeliverShared}},
		{"minikube by environment", Delivery{ActiveMinikube: "minikube"}, single(model.ProductMinikube, "docker", loop),
			docker.Info{Host: "tcp://127.0.0.1:1"}, model.Registry{}, api, Plan{Method: model.DeliverShared}},
		{"minikube, other engine", here, single(model.ProductMinikube, "docker", loop), unix, model.Registry{}, api,
			Plan{Method: model.DeliverPush}},
		{"colima", here, single(model.ProductColima, "docker", loop), docker.Info{Name: "colima"}, model.Registry{}, api,
			Plan{Method: model.DeliverShared}},
		{"rancher desktop", here, single(model.ProductRancherDesktop, "docker", loop), docker.Info{Name: "lima-rancher-desktop"},
			model.Registry{}, api, Plan{Method: model.DeliverShared}},
		{"orbstack", here, single(model.ProductOrbstack, "docker", loop), docker.Info{Product: "OrbStack"}, model.Registry{}, api,
			Plan{Method: model.DeliverShared}},
		{"k3s --docker", here, single(model.ProductUnknown, "docker", loop), unix, model.Registry{}, api, Plan{Method: model.DeliverShared}},
		{"docker nodes elsewhere", here, single(model.ProductUnknown, "docker", "https://10.9.9.9"), unix, model.Registry{}, api,
			Plan{Method: model.DeliverPush}},
		{"disable_push", here, withRegistry(single(model.ProductHone, "containerd", loop)), unix, model.Registry{},
			custom(model.CustomBuild{DisablePush: true}), Plan{Method: model.DeliverNone, Registry: local}},
		{"skips_local_docker", here, single(model.ProductGKE, "containerd", "https://35.1.1.1"), unix, remote,
			custom(model.CustomBuild{SkipsLocalDocker: true}), Plan{Method: model.DeliverNone, Registry: remote}},
		{"custom_build", here, single(model.ProductHone, "containerd", loop), unix, model.Registry{}, custom(model.CustomBuild{}),
			Plan{Method: model.DeliverContainerd, Socket: sock}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.delivery.Choose(tt.cluster, tt.engine, tt.fallback, tt.target)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Plan{}, "Why")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.Why == "" {
				t.Error("no reason")
			}
		})
	}
}
