package buildanddeploy

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestClusterIsIdentified asks API servers that have one namespace from a moment on, and answer for the others with an error.
func TestClusterIsIdentified(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "", errors.New("not you"))
	for name, tt := range map[string]struct {
		namespace string
		from      time.Duration
		otherwise error
		want      string
		after     time.Duration // at most, and more than half of it
		err       error
	}{
		"by its oldest namespace":                 {"kube-system", 0, missing, "uid of kube-system", 0, nil},
		"by the default one":                      {"default", 0, forbidden, "uid of default", 0, nil},
		"by its address":                          {"", 0, forbidden, "at-address", 0, nil},
		"while it starts":                         {"kube-system", 5 * time.Second, missing, "uid of kube-system", 6 * time.Second, nil},
		"not, if it never has one":                {"", 0, missing, "", startTime + time.Second, missing},
		"not, if it does not answer, without ado": {"", 0, apierrors.NewInternalError(errors.New("ill")), "", 0, apierrors.NewInternalError(errors.New("ill"))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				dyn := fake.NewSimpleDynamicClient(runtime.NewScheme())
				dyn.PrependReactor("get", "namespaces", func(a clienttesting.Action) (bool, runtime.Object, error) {
					if asked := a.(clienttesting.GetAction).GetName(); asked == tt.namespace && time.Since(began) >= tt.from {
						return true, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"uid": "uid of " + asked}}}, nil
					}
					return true, nil, tt.otherwise
				})
				got, err := (&Cluster{dyn: dyn, address: "at-address"}).uid(t.Context())
				if got != tt.want || !sameReason(err, tt.err) {
					t.Errorf("%q, %v; want %q, %v", got, err, tt.want, tt.err)
				}
				if took := time.Since(began); took > tt.after || took < tt.after/2 {
					t.Errorf("after %s, want %s at most", took, tt.after)
				}
			})
		})
	}
}

func sameReason(a, b error) bool {
	return (a == nil) == (b == nil) && apierrors.ReasonForError(a) == apierrors.ReasonForError(b)
}
