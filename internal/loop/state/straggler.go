package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/pkg/model"
)

// Behind is a container whose update is still running though the build that it is part of is over.
type Behind struct {
	Namespace, Pod, Container string
	// Files are what it is to get, as in Build.
	Files []string
	// Serial is that of the build, and Since when that began.
	Serial int
	Since  time.Time
}

// StragglerEnded says that the update of a container which was behind has ended.
type StragglerEnded struct {
	Resource model.ManifestName
	// Serial is that of the build that it was part of.
	Serial int
	Update model.ContainerUpdate
	// Synced says that the container has what it was to get; a command of the user may have failed all the same, as Update
	// tells.
	Synced bool
	// Fault is why it does not have it, where trying again may help. Broken is why a new image is needed.
	Fault, Broken string
}

// caughtUp notes the end of an update that was behind.
func (u Update) caughtUp(a StragglerEnded, now time.Time) Update {
	id := a.Update.ID
	behind, ok := u.Behind[id]
	if !ok || behind.Serial != a.Serial {
		return u // its pod has gone
	}
	u.Behind = without(u.Behind, id)
	if a.Synced {
		u = u.synced(id, behind.Since)
	}
	if a.Fault != "" {
		u.Faults = with(u.Faults, id, a.Fault)
	}
	if a.Broken != "" {
		u.InPlaceBroken, u.Broken = a.Broken, now
	}
	at := slices.IndexFunc(u.Builds, func(b Build) bool { return b.Serial == a.Serial })
	if at < 0 {
		return u
	}
	u.Builds = slices.Clone(u.Builds)
	b := &u.Builds[at]
	b.Containers = slices.Clone(b.Containers)
	for i, c := range b.Containers {
		if c.ID == id {
			b.Containers[i] = a.Update
		}
	}
	if b.Err == "" {
		b.Err = a.Update.Err
	}
	return u
}

// synced notes that a container has every change up to the given time.
func (u Update) synced(id string, until time.Time) Update {
	u.Synced = with(u.Synced, id, until)
	if _, ok := u.Faults[id]; ok {
		u.Faults = without(u.Faults, id)
	}
	if _, ok := u.Stuck[id]; ok {
		u.Stuck = without(u.Stuck, id)
	}
	return u
}
