package deploy

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/pkg/model"
)

// passing are the kinds whose objects Kubernetes itself removes after a while.
var passing = map[schema.GroupKind]bool{
	{Kind: "Event"}:                                                   true,
	{Group: "events.k8s.io", Kind: "Event"}:                           true,
	{Group: "apps", Kind: "ControllerRevision"}:                       true,
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: true,
}

// PassingKind reports whether Kubernetes itself removes objects of this kind after a while.
func PassingKind(id model.ObjectID) bool { return passing[groupKind(id)] }

// maybePassed says why an object that was applied may be gone although no one has deleted it; "" if others must have deleted it.
// A Job stays at least for its ttlSecondsAfterFinished after it was written; the zero time means that this time is unknown.
func maybePassed(applied *unstructured.Unstructured, written, now time.Time) string {
	id := IDOf(applied)
	ttl, expires, _ := unstructured.NestedInt64(applied.Object, "spec", "ttlSecondsAfterFinished")
	switch {
	case PassingKind(id):
		return "gone: Kubernetes removes objects of this kind after a while"
	case groupKind(id) != schema.GroupKind{Group: "batch", Kind: "Job"} || !expires:
		return ""
	case now.Sub(written).Seconds() < float64(ttl):
		return ""
	}
	return "gone: its ttlSecondsAfterFinished removes it once it has finished"
}
