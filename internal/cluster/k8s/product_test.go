package k8s

import (
	"testing"

	"github.com/hone-dev/hone/pkg/model"
)

func TestDetectProduct(t *testing.T) {
	tests := []struct {
		context, cluster string
		paths            []string
		want             model.Product
	}{
		{"c", "hone-dev", nil, model.ProductHone},
		{"c", "minikube", nil, model.ProductMinikube},
		{"c", "mine", []string{"", "/home/u/.minikube/ca.crt"}, model.ProductMinikube},
		{"c", "docker-desktop", nil, model.ProductDockerDesktop},
		{"c", "docker-for-desktop-cluster", nil, model.ProductDockerDesktop},
		{"c", "microk8s-cluster", nil, model.ProductMicroK8s},
		{"c", "api-crc-testing:6443", nil, model.ProductCRC},
		{"c", "krucible-x", nil, model.ProductKrucible},
		{"c", "kind", nil, model.ProductKIND},
		{"c", "kind-shop", nil, model.ProductKIND},
		{"c", "kindergarten", nil, model.ProductUnknown},
		{"c", "k3d-shop", nil, model.ProductK3D},
		{"c", "x", []string{"/home/u/.config/k3d/kubeconfig-x.yaml"}, model.ProductK3D},
		{"c", "rancher-desktop", nil, model.ProductRancherDesktop},
		{"c", "colima-arm", nil, model.ProductColima},
		{"c", "orbstack", nil, model.ProductOrbstack},
		{"c", "gke_project_zone_name", nil, model.ProductGKE},
		{"c", "arn:aws:eks:eu-west-1:1:cluster/x", nil, model.ProductEKS},
		{"c", "x.eu-west-1.eksctl.io", nil, model.ProductEKS},
		{"kind-of-prod", "production", nil, model.ProductUnknown},
		{"kind-shop", "", nil, model.ProductKIND},
		{"", "", nil, model.ProductUnknown},
		{"c", "kubernetes", nil, model.ProductUnknown},
	}
	for _, tt := range tests {
		if got := DetectProduct(tt.context, tt.cluster, tt.paths...); got != tt.want {
			t.Errorf("%q %q %v: got %s, want %s", tt.context, tt.cluster, tt.paths, got, tt.want)
		}
	}
}
