package k8s

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// productRule recognises a product by the name of the cluster that a context points to.
type productRule struct {
	product  model.Product
	equal    []string
	prefixes []string
	suffixes []string
	// paths are parts of the path of the kubeconfig or of the CA file that identify the product.
	paths []string
}

// productRules are tried in order; the first match wins.
var productRules = []productRule{
	{product: model.ProductHone, equal: []string{"hone-dev"}, prefixes: []string{"hone-dev-"}},
	{product: model.ProductMinikube, prefixes: []string{"minikube"}, paths: []string{"/.minikube/"}},
	{product: model.ProductDockerDesktop, prefixes: []string{"docker-desktop", "docker-for-desktop"}},
	{product: model.ProductMicroK8s, prefixes: []string{"microk8s"}},
	{product: model.ProductCRC, prefixes: []string{"api-crc-testing"}},
	{product: model.ProductKrucible, prefixes: []string{"krucible-"}},
	{product: model.ProductKIND, equal: []string{"kind"}, prefixes: []string{"kind-"}, paths: []string{"/kind-config-"}},
	{product: model.ProductK3D, prefixes: []string{"k3d-"}, paths: []string{"/.config/k3d/", "/.k3d/"}},
	{product: model.ProductRancherDesktop, prefixes: []string{"rancher-desktop"}},
	{product: model.ProductColima, prefixes: []string{"colima"}},
	{product: model.ProductOrbstack, prefixes: []string{"orbstack"}},
	{product: model.ProductGKE, prefixes: []string{"gke"}},
	{product: model.ProductEKS, prefixes: []string{"arn:aws:eks:"}, suffixes: []string{".eksctl.io"}},
}

// DetectProduct recognises the product by the name of the cluster, else by the paths of the kubeconfig and the CA file.
// If the cluster has no name, the name of the context is used instead. The context's name never overrides the cluster's
// name: users rename contexts, and a context called "kind-of-prod" must not count as a development cluster.
func DetectProduct(contextName, clusterName string, paths ...string) model.Product {
	name := clusterName
	if name == "" {
		name = contextName
	}
	for _, r := range productRules {
		if r.matches(name, paths) {
			return r.product
		}
	}
	return model.ProductUnknown
}

func (r productRule) matches(name string, paths []string) bool {
	if slices.Contains(r.equal, name) ||
		slices.ContainsFunc(r.prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.ContainsFunc(r.suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
		return true
	}
	return slices.ContainsFunc(r.paths, func(part string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(filepath.ToSlash(p), part) })
	})
}
