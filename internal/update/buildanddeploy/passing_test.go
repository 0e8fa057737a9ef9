package buildanddeploy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/containers/docker"
)

func TestIsPassing(t *testing.T) {
	conf := schema.GroupResource{Resource: "configmaps"}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"the registry takes no push":  {&docker.Passing{Err: errors.New("connection refused")}, true},
		"the API server is busy":      {&k8s.Busy{Status: 503}, true},
		"a webhook does not answer":   {apierrors.NewInternalError(errors.New("failed calling webhook")), true},
		"the connection breaks off":   {io.ErrUnexpectedEOF, true},
		"the API server is not there": {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, true},
		"one of several objects":      {errors.Join(apierrors.NewBadRequest("no"), &k8s.Busy{Status: 429}), true},
		"an object that is not valid": {apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), false},
		"a missing right":             {apierrors.NewForbidden(conf, "a", errors.New("no")), false},
		"the namespace is missing":    {missing("namespaces"), true},
		"another object is missing":   {missing("configmaps"), false},
		"the namespace is going":      {terminating(), true},
		"the kind is missing":         {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}}, true},
		"the kind of one of several":  {errors.Join(apierrors.NewBadRequest("no"), fmt.Errorf("b: %w", errors.Join(missing("configmaps"), missing("namespaces")))), true},
		"the quota is used up":        {apierrors.NewForbidden(conf, "a", errors.New("exceeded quota: few, requested: count/configmaps=1")), true},
		"others write as well":        {apierrors.NewConflict(conf, "a", errors.New("the object has been modified; please apply your changes to the latest version")), true},
		"another object of that name": {apierrors.NewConflict(conf, "a", errors.New("Precondition failed: UID in precondition: 1, UID in object meta: 2")), false},
		"a webhook's conflict":        {apierrors.NewConflict(conf, "a", errors.New(`admission webhook "w" denied the request: no`)), false},
		"others own its fields":       {apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data"}}, "conflict"), false},
		"a build that fails":          {errors.New("exit status 1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := problem.Wrap(fmt.Errorf("apply configmap/a: %w", tc.err), "cannot deploy", "see above")
			if got := IsPassing(err); got != tc.want {
				t.Errorf("IsPassing(%v) = %v", err, got)
			}
		})
	}
}

func missing(resource string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: resource}, "shop")
}

func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("the namespace is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: "NamespaceTerminating"})
	return err
}
