package k8s

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hone-dev/hone/pkg/model"
)

func TestNodeHost(t *testing.T) {
	nodes := []corev1.Node{{Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "n1"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.1"}, {Type: corev1.NodeExternalIP, Address: "1.2.3.4"},
	}}}}
	for product, want := range map[model.Product]string{
		model.ProductKIND: "10.0.0.1", model.ProductGKE: "1.2.3.4", model.ProductDockerDesktop: "localhost",
	} {
		if got := nodeHost(product, nodes); got != want {
			t.Errorf("%s: got %q, want %q", product, got, want)
		}
	}
	if got := nodeHost(model.ProductKIND, nil); got != "" {
		t.Errorf("without nodes: %q", got)
	}
}

func TestVersions(t *testing.T) {
	if v, err := parseVersion([]byte(`{"gitVersion":"v1.34.4"}`)); v != "v1.34.4" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	if _, err := parseVersion([]byte("<html>")); err == nil {
		t.Error("no error for a page")
	}
	for v, old := range map[string]bool{"v1.24.9": true, "v1.25.0": false, "v1.34.4+k3s1": false, "odd": false} {
		if TooOld(v) != old {
			t.Errorf("TooOld(%q) = %v", v, !old)
		}
	}
}
