package buildcontrol

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Absorbable returns the files that a running update in place may take in: the containers, each with the files that have changed after
// since. It returns nil if no file has, if the files need more than a copy, or if the update would not begin now, with exactly
// these containers.
func Absorbable(v store.View, name model.ManifestName, containers []string, since time.Time) []model.LackingContainer {
	e := state.Resources.In(v).Ref(string(name))
	if e == nil || !e.Value.Enabled || e.Phase == store.TearingDown {
		return nil
	}
	d := newDecision(v)
	r := d.resource(state.UpdatingOf(v, e))
	if asked(&r) != 0 || !r.onlyCopies() {
		return nil
	}
	r.want = want{reason: state.ReasonFiles, inPlace: true}
	if _, held := d.hold(&r); held {
		return nil
	}
	lanes := r.lanes()
	running := lanes.running()
	if len(running) != len(containers) {
		return nil
	}
	var out []model.LackingContainer
	for _, l := range running {
		if !slices.Contains(containers, l.ID) {
			return nil
		}
		if files := lanes.changed(l, since, scope{noticed: true}); len(files) > 0 {
			c := l.ContainerRef
			c.Arch = state.ArchOf(v, *r.manifest)
			out = append(out, model.LackingContainer{ContainerRef: c, Files: files})
		}
	}
	return out
}
