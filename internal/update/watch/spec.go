package watch

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Spec describes the changes that one consumer wants: the changes below its Paths, except those that its Ignores leave out. A path
// may be a file, a folder, or not exist yet.
type Spec struct {
	ID model.TargetID
	model.WatchSpec
	// Touches requests files, too, whose time of change was set and whose content is the same: stamp files.
	Touches bool
}

// Equal reports whether both specs request the same changes.
func (s Spec) Equal(o Spec) bool {
	files := slices.Equal(s.Paths, o.Paths) && equalIgnores(s.Ignores, o.Ignores)
	return files && s.ID == o.ID && s.Touches == o.Touches
}

func (s Spec) clone() Spec {
	s.Paths = slices.Clone(s.Paths)
	s.Ignores = cloneIgnores(s.Ignores)
	return s
}

func cloneIgnores(in []model.Ignore) []model.Ignore {
	out := slices.Clone(in)
	for i := range out {
		out[i].Patterns = slices.Clone(out[i].Patterns)
	}
	return out
}

func equalIgnores(a, b []model.Ignore) bool {
	return slices.EqualFunc(a, b, func(x, y model.Ignore) bool {
		return x.Base == y.Base && x.Source == y.Source && slices.Equal(x.Patterns, y.Patterns)
	})
}

// Change lists the changed paths of one target.
type Change struct {
	ID model.TargetID
	// Paths are absolute, sorted and distinct. Each is a file or symbolic link that is new or different, or a known path
	// that is gone: a file, or a folder together with the files that were in it.
	Paths []string
	// Prints holds, for the path at the same index, its states before and after. It may be nil.
	Prints []Print
}

// Print identifies the states of a path before and after a change. Equal states have equal fingerprints.
type Print struct {
	Was, Now Fingerprint
}

// Fingerprint stands for the content and mode of a file.
type Fingerprint uint64

// The fingerprints that stand for no content.
const (
	// PrintUnknown is a file whose content was not compared; it is equal to nothing.
	PrintUnknown Fingerprint = iota
	// PrintAbsent is a path that does not exist.
	PrintAbsent
	// PrintFolder is a folder.
	PrintFolder
	printsReserved
)

// reverted reports whether the state is the same as before.
func (p Print) reverted() bool { return p.Was == p.Now && p.Was != PrintUnknown }

// Batch holds the changes of one moment.
type Batch struct {
	// Changes holds at most one entry per target.
	Changes []Change
	// At is the time at which the latest of the changes was noticed, and Made the time at which the latest was made: the file system's
	// change time where this machine's clock set it and it is exact, otherwise the time at which the system reported the change.
	At, Made time.Time
}

// Event is one change of one target, with its time.
type Event struct {
	ID    model.TargetID
	Paths []string
	At    time.Time
}

// Events returns the batch as one event per target.
func (b Batch) Events() []Event {
	out := make([]Event, len(b.Changes))
	for i, c := range b.Changes {
		out[i] = Event{ID: c.ID, Paths: c.Paths, At: b.At}
	}
	return out
}
