package model

import (
	"fmt"
	"slices"
	"strings"
)

// Annotations of an object's declaration that set hone's policy for the object; k8s_resource sets them for all objects of a
// resource. AnnotationOnRemove is read from the object in the cluster, so that it holds without a Tiltfile.
const (
	// AnnotationAdopt determines whether hone may take over an object that others made: AdoptAlways, AdoptNever, or AdoptKubectl for
	// an object that was made with kubectl apply. Without it the session's setting decides.
	AnnotationAdopt = "hone.dev/adopt"
	AdoptAlways     = "always"
	AdoptNever      = "never"
	AdoptKubectl    = "kubectl"
	// AnnotationReadOnly with the value ReadOnlyTrue: the object is neither written nor deleted. It must exist.
	AnnotationReadOnly = "hone.dev/read-only"
	ReadOnlyTrue       = "true"
	// AnnotationShared with the value SharedTrue: the object belongs to all projects that declare it so. The last one of them that leaves
	// deletes it.
	AnnotationShared = "hone.dev/shared"
	SharedTrue       = "true"
	// AnnotationApply with the value ApplyOnce: the object is created if it was not applied before, and then left alone. With ApplyKeep,
	// a session applies it again by itself when others change it.
	AnnotationApply = "hone.dev/apply"
	ApplyOnce       = "once"
	ApplyAlways     = "always"
	ApplyKeep       = "keep"
	// AnnotationIgnore holds JSON pointers (RFC 6901), separated by spaces or commas. hone sets these fields when it creates the
	// object, and leaves them to others afterwards. In a list, an item is named by its name or its index.
	AnnotationIgnore = "hone.dev/ignore"
	// AnnotationOnRemove determines which commands delete the object once it is no longer declared.
	AnnotationOnRemove = "hone.dev/on-remove"
	// OnRemoveDelete is the default: it is deleted. OnRemoveDown: only hone down deletes it. OnRemoveConfirm: only hone gc and hone
	// down delete it. OnRemoveOrphan: it stays, without hone's marks, and hone forgets it; hone down does the same.
	OnRemoveDelete  = "delete"
	OnRemoveDown    = "down"
	OnRemoveConfirm = "confirm"
	OnRemoveOrphan  = "orphan"
)

// policies are the values that the annotations may have, except AnnotationIgnore.
var policies = map[string][]string{
	AnnotationAdopt:    {AdoptAlways, AdoptNever, AdoptKubectl},
	AnnotationReadOnly: {ReadOnlyTrue, "false"},
	AnnotationShared:   {SharedTrue, "false"},
	AnnotationApply:    {ApplyAlways, ApplyOnce, ApplyKeep},
	AnnotationOnRemove: {OnRemoveDelete, OnRemoveDown, OnRemoveConfirm, OnRemoveOrphan},
}

// CheckPolicy returns an error if one of these annotations has a value that it cannot have: "hone.dev/apply: "twice" is not one of …".
func CheckPolicy(annotation, value string) error {
	if annotation == AnnotationIgnore {
		for _, p := range Pointers(value) {
			if !strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") {
				return fmt.Errorf("%s: %q is not a JSON pointer such as /spec/replicas", annotation, p)
			}
		}
		return nil
	}
	if allowed, known := policies[annotation]; known && !slices.Contains(allowed, value) {
		return fmt.Errorf("%s: %q is not one of %s", annotation, value, strings.Join(allowed, ", "))
	}
	return nil
}

// CheckPolicies checks all of an object's annotations, and returns the first error.
func CheckPolicies(annotations map[string]string) error {
	for _, key := range []string{AnnotationAdopt, AnnotationReadOnly, AnnotationShared, AnnotationApply, AnnotationOnRemove, AnnotationIgnore} {
		if v, ok := annotations[key]; ok {
			if err := CheckPolicy(key, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Pointers splits the value of AnnotationIgnore.
func Pointers(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
}
