package k8s

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiversion "k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/pkg/model"
)

// The places where clusters announce their registry, in order of precedence: a ConfigMap (KEP-1755), the Service of
// microk8s' registry add-on, and annotations of nodes.
const (
	hostingNamespace = "kube-public"
	hostingConfigMap = "local-registry-hosting"
	hostingKey       = "localRegistryHosting.v1"

	microK8sNamespace = "container-registry"
	microK8sService   = "registry"

	annotationRegistry            = "tilt.dev/registry"
	annotationRegistryFromCluster = "tilt.dev/registry-from-cluster"
	annotationKindRegistry        = "kind.x-k8s.io/registry"
)

// offeredRegistry reads the ConfigMap. A missing ConfigMap or missing permission means no registry.
func (c *Client) offeredRegistry(ctx context.Context) (model.Registry, error) {
	cm, err := c.core.configMaps(hostingNamespace).Get(ctx, hostingConfigMap)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return model.Registry{}, nil
	}
	if err != nil {
		return model.Registry{}, fmt.Errorf("read ConfigMap %s/%s: %w", hostingNamespace, hostingConfigMap, err)
	}
	r, err := parseHosting(cm.Data[hostingKey])
	if err != nil {
		return model.Registry{}, fmt.Errorf("read ConfigMap %s/%s: %w", hostingNamespace, hostingConfigMap, err)
	}
	return r, nil
}

// parseHosting reads the value of the ConfigMap's key. It ignores unknown fields.
func parseHosting(text string) (model.Registry, error) {
	var hosting struct {
		Host                     string `json:"host"`
		HostFromContainerRuntime string `json:"hostFromContainerRuntime"`
		HostFromClusterNetwork   string `json:"hostFromClusterNetwork"`
	}
	if err := yaml.Unmarshal([]byte(text), &hosting); err != nil {
		return model.Registry{}, fmt.Errorf("key %s: %w", hostingKey, err)
	}
	r := model.Registry{Host: hosting.Host, HostFromCluster: hosting.HostFromContainerRuntime}
	if r.HostFromCluster == "" {
		r.HostFromCluster = hosting.HostFromClusterNetwork
	}
	if r.Host == "" {
		return model.Registry{}, nil
	}
	if r.HostFromCluster == r.Host {
		r.HostFromCluster = ""
	}
	return r, nil
}

// microK8sRegistry finds the node port of microk8s' registry add-on.
func (c *Client) microK8sRegistry(ctx context.Context) (model.Registry, error) {
	svc, err := c.core.services(microK8sNamespace).Get(ctx, microK8sService)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return model.Registry{}, nil
	}
	if err != nil {
		return model.Registry{}, fmt.Errorf("read Service %s/%s: %w", microK8sNamespace, microK8sService, err)
	}
	for _, p := range svc.Spec.Ports {
		if p.NodePort != 0 {
			return model.Registry{Host: net.JoinHostPort("localhost", strconv.Itoa(int(p.NodePort)))}, nil
		}
	}
	return model.Registry{}, nil
}

func annotatedRegistry(nodes []corev1.Node) model.Registry {
	for _, n := range nodes {
		if host := n.Annotations[annotationRegistry]; host != "" {
			return model.Registry{Host: host, HostFromCluster: n.Annotations[annotationRegistryFromCluster]}
		}
		if host := n.Annotations[annotationKindRegistry]; host != "" {
			return model.Registry{Host: host}
		}
	}
	return model.Registry{}
}

func parseVersion(raw []byte) (string, error) {
	var info apiversion.Info
	if err := json.Unmarshal(raw, &info); err != nil || info.GitVersion == "" {
		return "", fmt.Errorf("the server's version is unreadable: %q", shorten(string(raw), 100))
	}
	return info.GitVersion, nil
}
