package state

import (
	"maps"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Revision distinguishes the states that a resource has had in the cluster or on this machine.
type Revision struct {
	// Serial is the number of its newest build, and Since the time since which the resource has been enabled.
	Serial int
	Since  time.Time
}

// RevisionOf returns the revision of a resource.
func RevisionOf(u Updating) Revision { return Revision{u.Update.Serial, u.Updates.Created} }

// Basis are the revisions of all that a test depends on.
type Basis map[model.ManifestName]Revision

// Equal reports whether two bases have the same revisions.
func (b Basis) Equal(o Basis) bool {
	return maps.EqualFunc(b, o, func(x, y Revision) bool { return x.Serial == y.Serial && x.Since.Equal(y.Since) })
}
