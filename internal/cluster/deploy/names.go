package deploy

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hone-dev/hone/pkg/model"
)

// FieldManager is the field manager of the objects that hone applies.
const FieldManager = "hone"

// Labels of the objects that hone applies.
const (
	// LabelManagedBy has the value ManagedByHone on every object and on every pod template.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	ManagedByHone  = "hone"
	// ManagedSelector selects the objects and pods that have the label.
	ManagedSelector = LabelManagedBy + "=" + ManagedByHone
	// LabelResource holds ResourceLabel of the resource that applied the object.
	LabelResource = "hone.dev/resource"
	// LabelProject holds the ID of the project whose session applied the object.
	LabelProject = "hone.dev/project"
	// LabelTemplateHash is on pod templates only: pods of the current template carry the same value.
	LabelTemplateHash = "hone.dev/pod-template-hash"
)

// Annotations that hone writes or reads.
const (
	// AnnotationAppliedHash is the hash of the desired object. It identifies unchanged objects.
	AnnotationAppliedHash = "hone.dev/applied-hash"
	// AnnotationRunID names the session that last changed the object. A difference in it alone does not count as a
	// change.
	AnnotationRunID = "hone.dev/run-id"
	// AnnotationResourceName is the resource's full name if LabelResource cannot hold it.
	AnnotationResourceName = "hone.dev/resource-name"
	// AnnotationHolder names the place from which the project last deployed the object: the holder of the ledger that
	// records it.
	AnnotationHolder = "hone.dev/holder"
	// AnnotationAdopted marks objects that hone took over. It holds the values that hone's labels and annotations
	// replaced, as JSON.
	AnnotationAdopted = "hone.dev/adopted"
	// AnnotationDownPolicy with the value "keep" protects an object from every deletion by hone.
	AnnotationDownPolicy     = "hone.dev/down-policy"
	AnnotationTiltDownPolicy = "tilt.dev/down-policy"
	// AnnotationDependsOn lists objects that have to be applied first: "group/kind/name" or
	// "group/namespaces/namespace/kind/name", separated by commas; the core group is the empty string.
	AnnotationDependsOn = "config.kubernetes.io/depends-on"
)

// invalidInLabels matches a character that the value of a label must not have.
var invalidInLabels = regexp.MustCompile(`[^0-9A-Za-z._-]`)

// ResourceLabel returns name as a valid label value: the name itself if it is valid, else its valid characters and a
// short hash of the whole name, so that two names never share a label.
func ResourceLabel(name model.ManifestName) string {
	s := string(name)
	if s != "" && len(validation.IsValidLabelValue(s)) == 0 {
		return s
	}
	clean := strings.Trim(invalidInLabels.ReplaceAllString(s, "-"), "-_.")
	if len(clean) > 54 {
		clean = clean[:54]
	}
	if clean == "" {
		return shortHash(s, 8)
	}
	return clean + "-" + shortHash(s, 8)
}

// shortHash returns the first n hexadecimal digits of the SHA-256 of s.
func shortHash(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:n]
}
