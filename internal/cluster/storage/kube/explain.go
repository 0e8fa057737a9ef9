package kube

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hone-dev/hone/internal/base/problem"
)

// explain turns an error into a problem if the user can act on it.
func (s *Storage) explain(err error) error {
	ns := s.namespace
	switch {
	case apierrors.HasStatusCause(err, "NamespaceTerminating"):
		return problem.Wrap(err, fmt.Sprintf("namespace %q is being deleted", ns), "wait until it is gone, or choose another one: kube://NAMESPACE")
	case missingNamespace(err) != "":
		return problem.Wrap(err, fmt.Sprintf("namespace %q does not exist", ns), "create it: kubectl create namespace "+ns)
	case apierrors.IsForbidden(err):
		return problem.Wrap(err, fmt.Sprintf("the cluster does not let you keep documents in Secrets of namespace %q", ns),
			fmt.Sprintf("ask for the verbs get, list, create, update and delete on secrets:\n"+
				"kubectl create role hone-ledger -n %[1]s --verb=get,list,create,update,delete --resource=secrets\n"+
				"kubectl create rolebinding hone-ledger -n %[1]s --role=hone-ledger --user=NAME", ns))
	}
	return err
}

// missingNamespace returns the namespace that an error reports as missing, or nothing.
func missingNamespace(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return ""
	}
	if d := status.Status().Details; d != nil && d.Kind == "namespaces" {
		return d.Name
	}
	return ""
}
