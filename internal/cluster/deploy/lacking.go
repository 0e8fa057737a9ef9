package deploy

import (
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsLacking reports whether an object, or one of several, was refused because the cluster lacks something that may
// still be supplied: its namespace, its kind, room in a quota. The same request may be accepted later.
func IsLacking(err error) bool {
	return someOf(err, func(err error) bool {
		lacksNamespace := missingNamespace(err) != "" || apierrors.HasStatusCause(err, "NamespaceTerminating")
		return lacksNamespace || lacksKind(err) || lacksRoom(err)
	})
}

// lacksRoom reports whether a quota refuses an object.
func lacksRoom(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// lacksKind reports whether an object was refused because its kind is not defined, or no longer defined: the server answers such
// a request as it answers one for an unknown path.
func lacksKind(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// IsContended reports whether an object, or one of several, was refused only because others write to it, or to a quota,
// at the same time. The same request may be accepted later. It is false for lasting conflicts: about fields that others
// own, about an object that was replaced, or raised by a webhook.
func IsContended(err error) bool {
	return someOf(err, func(err error) bool {
		if _, ok := err.(apierrors.APIStatus); !ok || !apierrors.IsConflict(err) { // someOf unwraps
			return false
		}
		stays := len(fieldConflicts(err)) > 0 || strings.Contains(err.Error(), "recondition") || strings.Contains(err.Error(), "denied the request")
		return !stays
	})
}

// someOf reports whether is holds for an error, or for one that it wraps or joins.
func someOf(err error, is func(error) bool) bool {
	if err == nil || is(err) {
		return err != nil
	}
	some := func(err error) bool { return someOf(err, is) }
	switch e := err.(type) { //nolint:errorlint // each error of the chain is looked at
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), some)
	case interface{ Unwrap() error }:
		return some(e.Unwrap())
	}
	return false
}
