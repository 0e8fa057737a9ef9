package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// InPlace is the state of updates in place.
type InPlace struct {
	// Lanes has an entry for each container about which something is known, by its id. An entry is removed when the pod no longer has
	// the container: the pod is gone, has restarted the container, or belongs to another resource.
	Lanes map[string]Lane
	// Reached is the time up to which containers have had the changes: a new container of the same image gets these back, whatever
	// else waits. It equals AttemptedAt, unless the newest build failed or was a part of an update.
	Reached time.Time
	// Overlaid is set when containers may have files that differ from their image's: an update in place has reached one since the last deploy.
	Overlaid bool
	// InPlaceBroken is why live updates are not tried before the next deploy; empty when they are. It is set after every
	// failed deploy: a live update after it would look like its completion.
	InPlaceBroken string
}

// Lane is the way of one container to the newest saved files. It holds the changes that the container has, those on their way, and why
// the newest attempt failed. The files that it wants are not stored: buildcontrol derives them from Has and the changes of the resource.
type Lane struct {
	// Has is the time up to which changes have been copied into the container; zero if none have.
	Has time.Time
	// Owed are files of an earlier session, which Has does not cover; nil if there are none. An update that began after hone learned of
	// them brings them.
	Owed *Owed
	// Overlaid is set when the container may have files that differ from its image's: an update in place has reached it.
	Overlaid bool
	// Newer is set when it has got files since its run began, and its process has not started again after that: the process may have
	// begun without them.
	Newer bool
	// Sending is the update that is still running in it after the end of its build; nil when none is.
	Sending *Sending
	// Fault is why such an update failed, until another update succeeds.
	Fault string
	// Stuck is the time up to which changes are part of the newest update in place, if that failed for a reason that affects every
	// other way as well: the container is not updated until something else changes. It is zero otherwise.
	Stuck time.Time
}

// Owed are files of a container that may differ from the files of this machine, and Since the time at which hone learned it.
type Owed struct {
	Files []string
	Since time.Time
}

// Sending is an update that is still running in a container after the end of the build that it is part of.
type Sending struct {
	Namespace, Pod, Container string
	// Files are the files that the container gets, as in Build.
	Files []string
	// Serial is the number of the build, Since its start, and Until the time up to which changes are part of it.
	Serial       int
	Since, Until time.Time
}

// LaneEnded reports that the update of a container that was behind has ended.
type LaneEnded struct {
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
	store.On(Updates, func(d *store.Draft[Update], a LaneEnded) {
		d.Update(string(a.Resource), func(u Update) Update { return u.caughtUp(a, d.Now()) })
	})
	store.Follow(Updates, Pods, func(d *store.Draft[Update], was, is *store.Entry[Pod]) {
		if was == nil {
			return
		}
		var gone, begun []string
		for _, containers := range [][]model.Container{was.Value.Containers, was.Value.InitContainers} {
			for i := range containers {
				id, now := containers[i].ID, in(is, was.Value.Resource, containers[i].ID)
				switch {
				case id != "" && now == nil:
					gone = append(gone, id)
				case id != "" && startsAfresh(containers[i], *now):
					begun = append(begun, id)
				}
			}
		}
		if len(gone)+len(begun) == 0 {
			return
		}
		if e := d.Ref(string(was.Value.Resource)); e != nil {
			u := e.Value
			if forgotten, known := u.forget(gone), u.hasAll(begun); forgotten || known {
				d.Put(e.ID, u)
			}
		}
	})
}

// in returns the container with an id in a pod of a resource; nil if there is none. The pod may be nil.
func in(p *store.Entry[Pod], name model.ManifestName, id string) *model.Container {
	if p == nil || p.Value.Resource != name {
		return nil
	}
	all := p.Value.AllContainers()
	if i := slices.IndexFunc(all, func(c model.Container) bool { return c.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// startsAfresh reports whether a container of Compose has begun another run, or was stopped from outside, which hone does not undo.
func startsAfresh(was, is model.Container) bool {
	const killed, terminated = 137, 143
	again := !is.StartedAt.Equal(was.StartedAt)
	if is.State != model.ContainerTerminated || is.Reason == "OOMKilled" {
		return again
	}
	return again || is.ExitCode == killed || is.ExitCode == terminated
}

// hasAll notes that the processes of containers have all files that the containers have, and reports whether that is news.
func (p *InPlace) hasAll(ids []string) (changed bool) {
	for _, id := range ids {
		if p.Lanes[id].Newer {
			p.lane(id, func(l *Lane) { l.Newer = false })
			changed = true
		}
	}
	return changed
}

// forget removes the lanes of containers, and reports whether there was any.
func (p *InPlace) forget(ids []string) (changed bool) {
	for _, id := range ids {
		if _, ok := p.Lanes[id]; ok {
			p.Lanes, changed = without(p.Lanes, id), true
		}
	}
	return changed
}

// lane changes the lane of a container. The map is replaced, never written to.
func (p *InPlace) lane(id string, change func(*Lane)) {
	l := p.Lanes[id]
	change(&l)
	if l != (Lane{}) {
		p.Lanes = with(p.Lanes, id, l)
	} else {
		p.Lanes = without(p.Lanes, id)
	}
}

// reached records that a container has every change up to the given time, by an update that began at another.
func (p *InPlace) reached(id string, until, began time.Time) {
	p.lane(id, func(l *Lane) {
		l.Has, l.Fault, l.Stuck = until, "", time.Time{}
		if l.Owed != nil && !began.Before(l.Owed.Since) {
			l.Owed = nil
		}
	})
}

// copied records an update that has ended in a container: unless it ended with a start, the process may not know the files.
func (p *InPlace) copied(u model.ContainerUpdate) {
	if u.Files+u.Deletes > 0 || u.Stages.Restarted > 0 {
		p.lane(u.ID, func(l *Lane) { l.Newer = u.Stages.Restarted == 0 })
	}
}

// touched records that files may have been changed in containers.
func (p *InPlace) touched(ids []string) {
	p.Overlaid = p.Overlaid || len(ids) > 0
	for _, id := range ids {
		p.lane(id, func(l *Lane) { l.Overlaid = true })
	}
}

// ended records the results of a build in containers.
func (p *InPlace) ended(a BuildCompleted, b Build) {
	if reached := a.Err == "" || len(a.Synced)+len(a.Sending)+len(a.Stuck) > 0; reached && b.Until.After(p.Reached) {
		p.Reached = b.Until
	}
	for _, id := range a.Synced {
		p.reached(id, b.Until, b.StartedAt)
	}
	for _, c := range a.Containers {
		p.copied(c)
	}
	for id, sending := range a.Sending {
		sending.Serial, sending.Since, sending.Until = b.Serial, b.StartedAt, b.Until
		p.lane(id, func(l *Lane) { l.Sending = &sending })
	}
	for _, id := range a.Stuck {
		p.lane(id, func(l *Lane) { l.Stuck = b.Until })
	}
}

// deployed lets the next update be tried in place, and clears the faults of the containers. A container that has survived a fall-back
// to a new image is not tried again with files of an earlier session.
func (p *InPlace) deployed(fellBack bool) {
	p.InPlaceBroken, p.Overlaid = "", false
	for id, is := range p.Lanes {
		if is.Fault == "" && is.Owed == nil {
			continue
		}
		p.lane(id, func(l *Lane) {
			l.Fault = ""
			if fellBack {
				l.Owed = nil
			}
		})
	}
}

// AnySending reports whether an update is still running in a container after the end of its build.
func (p InPlace) AnySending() bool {
	for _, l := range p.Lanes {
		if l.Sending != nil {
			return true
		}
	}
	return false
}

// AnyOwed reports whether a container lacks files of an earlier session.
func (p InPlace) AnyOwed() bool {
	for _, l := range p.Lanes {
		if l.Owed != nil {
			return true
		}
	}
	return false
}

// caughtUp records the end of an update that went on after its build.
func (u Update) caughtUp(a LaneEnded, now time.Time) Update {
	id := a.Update.ID
	sending := u.Lanes[id].Sending
	if sending == nil || sending.Serial != a.Serial {
		u.containerEnded(a.Serial, a.Update, "") // the container is gone, which is no failure of the build
		return u
	}
	u.lane(id, func(l *Lane) { l.Sending = nil })
	u.copied(a.Update)
	if a.Synced {
		u.reached(id, sending.Until, sending.Since)
	}
	if a.Fault != "" {
		u.lane(id, func(l *Lane) { l.Fault = a.Fault })
	}
	if a.Broken != "" {
		u.InPlaceBroken, u.Broken = a.Broken, now
	}
	u.containerEnded(a.Serial, a.Update, a.Update.Err)
	return u
}
