package k8s

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/discovery"
)

func TestAPIVersions(t *testing.T) {
	got := apiVersions([]discovery.Group{
		{Versions: []discovery.Version{{Name: "v1", Resources: []metav1.APIResource{{Name: "pods", Kind: "Pod"}, {Name: "pods/log", Kind: "Pod"}}}}},
		{Name: "batch", Versions: []discovery.Version{{Name: "v1", Resources: []metav1.APIResource{{Name: "jobs", Kind: "Job"}}}, {Name: "v1beta1"}}},
	})
	if diff := cmp.Diff([]string{"v1", "v1/Pod", "batch/v1", "batch/v1/Job", "batch/v1beta1"}, got); diff != "" {
		t.Error(diff)
	}
}
