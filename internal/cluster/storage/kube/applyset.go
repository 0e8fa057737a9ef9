package kube

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// The label and the annotations of the parent of an ApplySet (KEP-3659).
const (
	labelApplySet        = "applyset.kubernetes.io/id"
	annotationTooling    = "applyset.kubernetes.io/tooling"
	annotationKinds      = "applyset.kubernetes.io/contains-group-kinds"
	annotationNamespaces = "applyset.kubernetes.io/additional-namespaces"
	tooling              = "hone/v1"
)

var _ storage.ApplySets = (*Storage)(nil)

// ApplySet implements storage.ApplySets.
func (s *Storage) ApplySet(name string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{secretName(name), s.namespace, "Secret", ""}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// SetMembers implements storage.ApplySets.
func (s *Storage) SetMembers(ctx context.Context, name string, groupKinds, namespaces []string) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	ctx = k8s.Patiently(ctx, nil)
	for {
		live, err := s.get(ctx, name)
		if err != nil {
			return s.fail("describe", name, err)
		}
		if versionOf(live) == storage.None {
			return storage.ErrMissing
		}
		next := s.asParent(live, name, groupKinds, namespaces)
		if maps.Equal(next.GetLabels(), live.GetLabels()) && maps.Equal(next.GetAnnotations(), live.GetAnnotations()) {
			return nil
		}
		if _, err = s.secrets.Update(ctx, next, metav1.UpdateOptions{}); err == nil {
			return nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return s.fail("describe", name, err)
		}
	}
}

// asParent returns a document's Secret with the marks of a parent.
func (s *Storage) asParent(live *unstructured.Unstructured, name string, groupKinds, namespaces []string) *unstructured.Unstructured {
	next := live.DeepCopy()
	labels := map[string]string{}
	maps.Copy(labels, live.GetLabels())
	labels[labelApplySet] = s.ApplySet(name)
	next.SetLabels(labels)
	others := slices.DeleteFunc(slices.Clone(namespaces), func(ns string) bool { return ns == s.namespace })
	annotations := map[string]string{}
	maps.Copy(annotations, live.GetAnnotations())
	annotations[annotationTooling] = tooling
	annotations[annotationKinds] = joined(groupKinds) // has to exist, even if it is empty
	annotations[annotationNamespaces] = joined(others)
	next.SetAnnotations(annotations)
	return next
}

// joined returns a list as the annotations have it.
func joined(list []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ",")
}
