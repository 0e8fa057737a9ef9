package buildcontrol

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Lanes are the containers of a resource that can be updated in place, each with its way to the newest saved files:
//
//	wants     Lacking: the files that have changed since Has, and those that an earlier session owes
//	has       state.Lane.Has: copies up to that time
//	sending   state.Lane.Sending: on their way since an earlier build
//	knows     state.Lane.Newer: its process may have begun without them, so that one of Compose that has crashed is started once more
//	error     state.Lane.Fault, Stuck: why the newest attempt failed
//
// A lane is level-based: Decide compares wants and has, an update sends the difference, and its end moves has. So a container that
// was away, or whose update failed, gets everything that it lacks, and nothing has to be remembered for it. Every question about the
// files of a container is answered here.
type Lanes struct {
	manifest *model.Manifest
	update   *state.Update
	pods     []state.Pod
}

// lane is the way of one container.
type lane struct {
	model.ContainerRef
	state.Lane
}

// LanesOf returns the lanes of a resource. The result belongs to the snapshot that the arguments come from.
func LanesOf(m *model.Manifest, u *state.Update, pods []state.Pod) Lanes {
	return Lanes{manifest: m, update: u, pods: pods}
}

func (r *resource) lanes() Lanes { return LanesOf(r.manifest, r.update, r.pods) }

// running returns the lanes of the containers that run.
func (ls Lanes) running() []lane { return ls.of(Live(*ls.manifest, *ls.update, ls.pods)) }

// all returns all lanes: after those that run, the lanes of crashed containers that can be updated while they stand.
func (ls Lanes) all() []lane {
	return append(ls.running(), ls.of(stopped(*ls.manifest, *ls.update, ls.pods))...)
}

func (ls Lanes) of(containers []model.ContainerRef) []lane {
	lanes := make([]lane, len(containers))
	for i, c := range containers {
		lanes[i] = lane{c, ls.update.Lanes[c.ID]}
	}
	return lanes
}

// Lacking returns the containers that lack changes, with the files. A restarted container has lost the copied files, so it lacks
// every change since the image. A container whose steps begin with an initial sync lacks changes until it has had that sync. A change
// that has not settled yet counts only if it needs no more than a copy. A container in which an update is still running is left out.
// None lacks anything while a deploy comes first.
func (ls Lanes) Lacking() []model.LackingContainer {
	if ls.update.InPlaceBroken != "" {
		return nil
	}
	return ls.lacking(scope{noticed: true, again: true})
}

// LackingFor returns the containers that a candidate updates in place, with the files of the update that each of them lacks.
func (ls Lanes) LackingFor(c Candidate) []model.LackingContainer {
	if !c.Until.IsZero() {
		return ls.lacking(partUntil(c.Until))
	}
	return ls.Lacking()
}

// LackingOfCommand returns the containers that a selector of a custom deploy chooses, and that lack changes, whether or not a deploy
// comes first. Files are those that the command cannot have brought.
func (ls Lanes) LackingOfCommand() (out []model.LackingContainer) {
	all := scope{noticed: true, again: true}
	for _, c := range ls.lacking(all) {
		if c.Ref != "" {
			continue
		}
		l := lane{c.ContainerRef, ls.update.Lanes[c.ID]}
		since := l.Has
		if brought := ls.update.Brought; brought.After(since) {
			since = brought
		}
		c.Files = ls.changed(l, since, all)
		out = append(out, c)
	}
	return out
}

// lacking returns the containers that lack something within a scope.
func (ls Lanes) lacking(s scope) []model.LackingContainer {
	u := ls.update
	if len(u.Changes)+len(u.Noticed) == 0 && !u.AnyOwed() && !syncsFirst(*ls.manifest) {
		return nil
	}
	var out []model.LackingContainer
	for _, l := range ls.all() {
		if l.Sending != nil {
			continue // its changes are on their way, and newer ones come after that
		}
		if !l.Stuck.IsZero() && !s.again && len(ls.changed(l, l.Stuck, s)) == 0 {
			continue
		}
		c := model.LackingContainer{ContainerRef: l.ContainerRef, Files: ls.changed(l, l.Has, s), New: l.Has.IsZero()}
		steps, _, _ := ls.manifest.LiveUpdateOf(l.Ref)
		if l.Owed != nil {
			for _, f := range l.Owed.Files {
				if steps.Takes(f) && !slices.Contains(c.Files, f) {
					c.Files = append(c.Files, f)
				}
			}
		}
		lacksStart := l.Stopped && l.Newer // it crashed with a process that may not have known its files
		lacksSync := steps.InitialSync && c.New
		if lacksStart || lacksSync || len(c.Files) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// syncsFirst reports whether a container of the resource lacks something although nothing has changed.
func syncsFirst(m model.Manifest) bool {
	if steps, _, ok := m.LiveUpdateOf(""); ok && steps.InitialSync {
		return true
	}
	return slices.ContainsFunc(m.Images, func(im model.ImageTarget) bool { return im.LiveUpdate.InitialSync })
}

// Overlaid returns the containers that have files of updates in place, but lack some of the newest ones.
func (ls Lanes) Overlaid() (out []model.ContainerRef) {
	lacks := map[string]bool{}
	for _, c := range ls.lacking(scope{noticed: true, again: true}) {
		lacks[c.ID] = true
	}
	for _, l := range ls.running() {
		if l.Overlaid && (lacks[l.ID] || l.Sending != nil) {
			out = append(out, l.ContainerRef)
		}
	}
	for _, p := range ls.pods {
		for _, c := range p.Containers {
			if p.OfCompose() && c.State != model.ContainerRunning && ls.update.Lanes[c.ID].Overlaid { // it keeps its files
				out = append(out, ls.manifest.ContainerRef(p.Pod, c, ls.manifest.Compose.ImageTarget))
			}
		}
	}
	return out
}

// Sending returns the updates that are still running after their builds, and the number of containers that can be updated in place.
func (ls Lanes) Sending() (sending []state.Sending, of int) {
	if !ls.update.AnySending() {
		return nil, 0
	}
	lanes := ls.running()
	for _, l := range lanes {
		if l.Sending != nil {
			sending = append(sending, *l.Sending)
		}
	}
	return sending, len(lanes)
}

// busy reports whether an update is still running in every container that could be updated.
func (ls Lanes) busy() bool {
	sending, of := ls.Sending()
	return of > 0 && len(sending) == of
}

// Beside describes the containers next to those that lack changes.
type Beside struct {
	// Others is set when a container lacks nothing and has no update under way: the next change can go there.
	Others bool
	// Peers counts, by image, the containers that have already taken, without an error, the changes with which containers
	// of that image are still catching up.
	Peers map[string]int
}

// Beside describes the containers next to those that Lacking returns.
func (ls Lanes) Beside(lacking []model.LackingContainer) Beside {
	b := Beside{Peers: map[string]int{}}
	lacks, late := map[string]bool{}, map[string]bool{}
	for _, c := range lacking {
		lacks[c.ID] = true
		late[c.Ref] = late[c.Ref] || wasBehind(ls.update, c)
	}
	for _, l := range ls.running() {
		if lacks[l.ID] || l.Sending != nil {
			continue
		}
		b.Others = true
		if late[l.Ref] && tookWell(ls.update, l.ID) {
			b.Peers[l.Ref]++
		}
	}
	return b
}

// wasBehind reports whether a container that lacks changes was behind, as opposed to newly started.
func wasBehind(u *state.Update, c model.LackingContainer) bool {
	return !c.New || u.Lanes[c.ID].Fault != ""
}

// tookWell reports whether the newest update of a container did not fail.
func tookWell(u *state.Update, id string) bool {
	for _, b := range u.Builds {
		for _, c := range b.Containers {
			if c.ID == id && !c.Behind {
				return c.Err == ""
			}
		}
	}
	return true
}
