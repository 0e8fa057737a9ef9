package v1alpha1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeepCopy changes everything in a copy that could share memory with the original.
func TestDeepCopy(t *testing.T) {
	at := metav1.NewMicroTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	object := func() *UIResource {
		return &UIResource{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"k": "v"}, Finalizers: []string{"f"}},
			Status: UIResourceStatus{LastDeployTime: at, CurrentBuild: &UIBuildRunning{StartTime: at},
				DisableStatus: DisableResourceStatus{Sources: []DisableSource{{ConfigMap: &ConfigMapDisableSource{Name: "n"}}}}},
		}
	}
	o := object()
	c := o.DeepCopyObject().(*UIResource)
	if diff := cmp.Diff(o, c); diff != "" {
		t.Fatalf("the copy differs:\n%s", diff)
	}
	c.Labels["k"], c.Finalizers[0], c.Status.CurrentBuild.SpanID = "x", "x", "x"
	c.Status.DisableStatus.Sources[0].ConfigMap.Name, c.Status.LastDeployTime = "x", metav1.MicroTime{}
	if diff := cmp.Diff(object(), o); diff != "" {
		t.Errorf("the original has changed:\n%s", diff)
	}
	if (*UIResource)(nil) != deepCopy[UIResource](nil) {
		t.Error("a copy of nothing is something")
	}
}
