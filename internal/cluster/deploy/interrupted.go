package deploy

import (
	"context"
	"errors"

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// Interrupted reports whether err has no cause in the objects: the API server was busy, did not answer or could not be
// reached.
func Interrupted(err error) bool {
	if err == nil {
		return false
	}
	var blocked *dag.Blocked
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		any := false
		for _, e := range joined.Unwrap() {
			if errors.As(e, &blocked) {
				continue
			}
			if !Interrupted(e) {
				return false
			}
			any = true
		}
		return any
	}
	return k8s.AsBusy(err) != nil || k8s.IsCutOff(err) || errors.Is(err, context.DeadlineExceeded)
}
