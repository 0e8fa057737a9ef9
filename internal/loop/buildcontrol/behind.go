package buildcontrol

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// Beside describes the containers next to those that lack changes.
type Beside struct {
	// Others is set when a container lacks nothing and has no update under way: the next change can go there.
	Others bool
	// Peers counts, by image, the containers that have already taken, without an error, the changes with which containers
	// of that image are still catching up.
	Peers map[string]int
}

// BesideOf describes the containers next to those that Lacking returns.
func BesideOf(m model.Manifest, u state.Update, pods []state.Pod, lacking []model.LackingContainer) Beside {
	b := Beside{Peers: map[string]int{}}
	lacks, late := map[string]bool{}, map[string]bool{}
	for _, l := range lacking {
		lacks[l.ID] = true
		late[l.Ref] = late[l.Ref] || wasBehind(u, l)
	}
	for _, c := range Live(m, u, pods) {
		if lacks[c.ID] || isBehind(u, c.ID) {
			continue
		}
		b.Others = true
		if late[c.Ref] && tookWell(u, c.ID) {
			b.Peers[c.Ref]++
		}
	}
	return b
}

// isBehind reports whether an update of the container is still running.
func isBehind(u state.Update, id string) bool {
	return u.Containers[id].Behind != nil
}

// wasBehind reports whether a container that lacks changes was behind, as opposed to newly started.
func wasBehind(u state.Update, l model.LackingContainer) bool {
	return !l.New || u.Containers[l.ID].Fault != ""
}

// tookWell reports whether the newest update of a container did not fail.
func tookWell(u state.Update, id string) bool {
	for _, b := range u.Builds {
		for _, c := range b.Containers {
			if c.ID == id && !c.Behind {
				return c.Err == ""
			}
		}
	}
	return true
}

// Behind returns the containers of current pods in which an update is still running, and the number of containers that can be
// updated in place.
func Behind(m model.Manifest, u state.Update, pods []state.Pod) (behind []state.Behind, of int) {
	if !u.AnyBehind() {
		return nil, 0
	}
	live := Live(m, u, pods)
	for _, c := range live {
		if b := u.Containers[c.ID].Behind; b != nil {
			behind = append(behind, *b)
		}
	}
	return behind, len(live)
}

// holdBehind waits if every container that could be updated has an update under way.
func (d *decision) holdBehind(r *resource) (Hold, bool) {
	if !r.inPlace || !r.update.AnyBehind() {
		return Hold{}, false
	}
	live := Live(*r.manifest, *r.update, r.pods)
	free := slices.ContainsFunc(live, func(c model.ContainerRef) bool { return !isBehind(*r.update, c.ID) })
	return Hold{Reason: HoldBehind}, len(live) > 0 && !free
}
