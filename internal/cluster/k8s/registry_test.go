package k8s

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/pkg/model"
)

func TestRegistries(t *testing.T) {
	tests := []struct {
		text string
		want model.Registry
		fail bool
	}{
		{`host: "localhost:5000"`, model.Registry{Host: "localhost:5000"}, false},
		{"host: localhost:5000\nhostFromContainerRuntime: reg:5000\nhostFromClusterNetwork: net:5000\nhelp: x", model.Registry{Host: "localhost:5000", HostFromCluster: "reg:5000"}, false},
		{"host: a\nhostFromClusterNetwork: b", model.Registry{Host: "a", HostFromCluster: "b"}, false},
		{"host: a\nhostFromClusterNetwork: a", model.Registry{Host: "a"}, false},
		{"hostFromClusterNetwork: b", model.Registry{}, false},
		{"", model.Registry{}, false},
		{"host: [", model.Registry{}, true},
	}
	for _, tt := range tests {
		got, err := parseHosting(tt.text)
		if got != tt.want || (err != nil) != tt.fail {
			t.Errorf("%q: got %+v, %v", tt.text, got, err)
		}
	}
	nodes := []corev1.Node{{}, {ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		annotationRegistry: "a:1", annotationRegistryFromCluster: "b:2", annotationKindRegistry: "c:3",
	}}}}
	if got := annotatedRegistry(nodes); got != (model.Registry{Host: "a:1", HostFromCluster: "b:2"}) {
		t.Errorf("annotations: %+v", got)
	}
	delete(nodes[1].Annotations, annotationRegistry)
	if got := annotatedRegistry(nodes); got.Host != "c:3" {
		t.Errorf("annotation of kind: %+v", got)
	}
}

func FuzzParseHosting(f *testing.F) {
	f.Add("host: a")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := parseHosting(text); r.Host == "" && (r.HostFromCluster != "" || err == nil && r != (model.Registry{})) {
			t.Errorf("%q: %+v", text, r)
		}
	})
}
