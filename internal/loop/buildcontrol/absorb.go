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
	if asked(&r) != 0 || !copiesAll(&r) {
		return nil
	}
	r.want = want{reason: state.ReasonFiles, inPlace: true}
	if _, held := d.hold(&r); held {
		return nil
	}
	m, u := *r.manifest, *r.update
	live := Live(m, u, r.pods)
	if len(live) != len(containers) {
		return nil
	}
	var out []model.LackingContainer
	for _, c := range live {
		if !slices.Contains(containers, c.ID) {
			return nil
		}
		if files := lacks(m, c.Ref, u, since, scope{noticed: true}); len(files) > 0 {
			c.Arch = state.ArchOf(v, m)
			out = append(out, model.LackingContainer{ContainerRef: c, Files: files})
		}
	}
	return out
}
