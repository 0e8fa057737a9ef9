package deploy

import (
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

// Health says how a live object does. The resource is read from hone's own marks; it is empty for foreign objects. An
// object whose status cannot be understood is unknown, with the reason as its message.
func Health(u *unstructured.Unstructured) model.ObjectStatus {
	s := model.ObjectStatus{ObjectID: IDOf(u), UID: string(u.GetUID()), Resource: ResourceOf(u),
		Health: model.HealthUnknown}
	res, err := status.Compute(u)
	switch {
	case err != nil:
		s.Message = err.Error()
		return s
	case res == nil:
		return s
	}
	s.Message = res.Message
	switch res.Status {
	case status.CurrentStatus:
		s.Health = model.HealthCurrent
	case status.InProgressStatus:
		s.Health = model.HealthInProgress
	case status.FailedStatus:
		s.Health = model.HealthFailed
	case status.TerminatingStatus:
		s.Health = model.HealthTerminating
	}
	return s
}

// ResourceOf returns the resource that applied a live object, empty for objects that hone did not make.
func ResourceOf(u *unstructured.Unstructured) model.ManifestName {
	if label(u, LabelManagedBy) != ManagedByHone {
		return ""
	}
	if full := annotation(u, AnnotationResourceName); full != "" {
		return model.ManifestName(full)
	}
	return model.ManifestName(label(u, LabelResource))
}
