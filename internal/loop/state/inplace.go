package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// InPlace is the state of updates in place.
type InPlace struct {
	// Containers is the state of each container, by id. An entry is removed when the pod no longer has the container: the pod
	// is gone, has restarted the container, or belongs to another resource.
	Containers map[string]InContainer
	// Owed are, by container, the files of an earlier session that may have changed since. An entry is removed with the one in Containers, and
	// once an update that began with it has updated the container.
	Owed map[string]Owed
	// Reached is the time up to which containers have had the changes: a new container of the same image gets these back, whatever
	// else waits. It equals AttemptedAt, unless the newest build failed or was a part of an update.
	Reached time.Time
	// Overlaid is set when containers may have files that differ from their image's: an update in place has reached one since the last deploy.
	Overlaid bool
	// InPlaceBroken is why live updates are not tried before the next deploy; empty when they are. It is set after every
	// failed deploy: a live update after it would look like its completion.
	InPlaceBroken string
}

// InContainer is the state of updates in place in one container.
type InContainer struct {
	// Overlaid is set when it may have files that differ from its image's: an update in place has reached it.
	Overlaid bool
	// Synced is the time up to which changes have been copied into it; zero if none have.
	Synced time.Time
	// Behind is the update that is still running in it after the end of its build; nil when none is.
	Behind *Behind
	// Fault is why an update that had fallen behind failed, until another update succeeds.
	Fault string
	// Stuck is the time up to which changes are part of the newest update in place, if that failed for a reason that affects every
	// other way as well: the container is not updated until something else changes. It is zero otherwise.
	Stuck time.Time
}

// Behind is a container whose update is still running after the end of the build that it is part of.
type Behind struct {
	Namespace, Pod, Container string
	// Files are the files that it gets, as in Build.
	Files []string
	// Serial is the number of the build, Since its start, and Until the time up to which changes are part of it.
	Serial       int
	Since, Until time.Time
}

// LaggingEnded reports that the update of a container that was behind has ended.
type LaggingEnded struct {
	Resource model.ManifestName
	// Serial is the number of the build that it was part of.
	Serial int
	Update model.ContainerUpdate
	// Synced is set when the container has the files; a command of the user may still have failed, see Update.
	Synced bool
	// Fault is why it does not have them, if a retry may help. Broken is why a new image is needed.
	Fault, Broken string
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a LaggingEnded) {
		d.Update(string(a.Resource), func(u Update) Update { return u.caughtUp(a, d.Now()) })
	})
	store.Follow(Updates, Pods, func(d *store.Draft[Update], was, is *store.Entry[Pod]) {
		if was == nil {
			return
		}
		var gone []string
		for _, containers := range [][]model.Container{was.Value.Containers, was.Value.InitContainers} {
			for i := range containers {
				if id := containers[i].ID; id != "" && !has(is, was.Value.Resource, id) {
					gone = append(gone, id)
				}
			}
		}
		if len(gone) == 0 {
			return
		}
		if e, ok := d.Get(string(was.Value.Resource)); ok && e.Value.forget(gone) {
			d.Put(e.ID, e.Value)
		}
	})
}

// has reports whether a pod, nil when there is none, belongs to a resource and has the container with an id.
func has(p *store.Entry[Pod], name model.ManifestName, id string) bool {
	return p != nil && p.Value.Resource == name && slices.ContainsFunc(p.Value.AllContainers(), func(c model.Container) bool { return c.ID == id })
}

// forget removes the state of containers, and reports whether there was any.
func (p *InPlace) forget(ids []string) (changed bool) {
	for _, id := range ids {
		if _, ok := p.Containers[id]; ok {
			p.Containers, changed = without(p.Containers, id), true
		}
		if _, ok := p.Owed[id]; ok {
			p.Owed, changed = without(p.Owed, id), true
		}
	}
	return changed
}

// note changes the state of a container. The map is replaced, never written to.
func (p *InPlace) note(id string, change func(*InContainer)) {
	c := p.Containers[id]
	change(&c)
	if c != (InContainer{}) {
		p.Containers = with(p.Containers, id, c)
	} else {
		p.Containers = without(p.Containers, id)
	}
}

// synced records that a container has every change up to the given time, by an update that began at another.
func (p *InPlace) synced(id string, until, began time.Time) {
	p.note(id, func(c *InContainer) { c.Synced, c.Fault, c.Stuck = until, "", time.Time{} })
	if o, ok := p.Owed[id]; ok && !began.Before(o.Since) {
		p.Owed = without(p.Owed, id)
	}
}

// touched records that files may have been changed in containers.
func (p *InPlace) touched(ids []string) {
	p.Overlaid = p.Overlaid || len(ids) > 0
	for _, id := range ids {
		p.note(id, func(c *InContainer) { c.Overlaid = true })
	}
}

// ended records the results of a build in containers.
func (p *InPlace) ended(a BuildCompleted, b Build) {
	if reached := a.Err == "" || len(a.Synced)+len(a.Behind)+len(a.Stuck) > 0; reached && b.Until.After(p.Reached) {
		p.Reached = b.Until
	}
	for _, id := range a.Synced {
		p.synced(id, b.Until, b.StartedAt)
	}
	for id, behind := range a.Behind {
		behind.Serial, behind.Since, behind.Until = b.Serial, b.StartedAt, b.Until
		p.note(id, func(c *InContainer) { c.Behind = &behind })
	}
	for _, id := range a.Stuck {
		p.note(id, func(c *InContainer) { c.Stuck = b.Until })
	}
}

// deployed lets the next update be tried in place, and clears the faults of the containers.
func (p *InPlace) deployed() {
	p.InPlaceBroken, p.Overlaid = "", false
	for id, c := range p.Containers {
		if c.Fault != "" {
			p.note(id, func(c *InContainer) { c.Fault = "" })
		}
	}
}

// AnyBehind reports whether an update is still running in a container after the end of its build.
func (p InPlace) AnyBehind() bool {
	for _, c := range p.Containers {
		if c.Behind != nil {
			return true
		}
	}
	return false
}

// caughtUp records the end of an update that was behind.
func (u Update) caughtUp(a LaggingEnded, now time.Time) Update {
	id := a.Update.ID
	behind := u.Containers[id].Behind
	if behind == nil || behind.Serial != a.Serial {
		u.containerEnded(a.Serial, a.Update, "") // the container is gone, which is no failure of the build
		return u
	}
	u.note(id, func(c *InContainer) { c.Behind = nil })
	if a.Synced {
		u.synced(id, behind.Until, behind.Since)
	}
	if a.Fault != "" {
		u.note(id, func(c *InContainer) { c.Fault = a.Fault })
	}
	if a.Broken != "" {
		u.InPlaceBroken, u.Broken = a.Broken, now
	}
	u.containerEnded(a.Serial, a.Update, a.Update.Err)
	return u
}
