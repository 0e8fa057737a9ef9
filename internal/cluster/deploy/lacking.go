package deploy

import (
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// IsLacking reports whether an object, or one of several, was refused because the cluster lacks what it needs and another may supply: its
// namespace, its kind, room in a quota. The same request may be accepted later.
func IsLacking(err error) bool {
	switch e := err.(type) { //nolint:errorlint // each error of the chain is looked at
	case nil:
		return false
	case apierrors.APIStatus:
		return missingNamespace(err) != "" || apierrors.HasStatusCause(err, "NamespaceTerminating") ||
			apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), IsLacking)
	case interface{ Unwrap() error }:
		return meta.IsNoMatchError(err) || IsLacking(e.Unwrap())
	}
	return meta.IsNoMatchError(err)
}
