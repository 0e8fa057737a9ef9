package collector

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// agreed reports whether the user has agreed to the deletion of the leftovers of earlier sessions.
func (r *run) agreed(v store.View) bool {
	c := state.TheSession(v).Confirmation
	return !c.Asked || !c.Given.IsZero()
}

// hold returns the leaving resources that may be deleted now. In a session that asks, a resource that the Tiltfile no longer
// declares waits until the user agrees after it has left. hold reports which resources wait.
func (r *run) hold(v store.View, leaving []*store.Entry[state.Resource]) []*store.Entry[state.Resource] {
	c := state.TheSession(v).Confirmation
	if !c.Asked {
		return leaving
	}
	var names []model.ManifestName
	now := map[string]time.Time{}
	free := slices.DeleteFunc(slices.Clone(leaving), func(e *store.Entry[state.Resource]) bool {
		if e.Value.Next != nil || !e.Value.Enabled { // it is switched off, or about to come back
			return false
		}
		since, known := r.held[e.ID]
		if !known {
			since = c.Given
		}
		now[e.ID] = since
		if c.Given.After(since) {
			return false
		}
		names = append(names, e.Value.Manifest.Name)
		return true
	})
	r.held = now
	if r.on == "" && !slices.Equal(names, r.toldHeld) { // all runs see the same
		r.toldHeld = names
		r.rt.Dispatch(state.LeavingHeld{Names: names})
	}
	return free
}

// pruning stands for the deletion that the user has asked for.
const pruning = model.ManifestName("what is no longer declared")

// keep finds the objects that stay although they are no longer declared, once they may have changed, and says so: once for all
// resources.
func (r *run) keep(v store.View) {
	if !r.unsure || !r.reaches(v) {
		return
	}
	r.unsure = false
	kept, err := r.cluster.Kept(r.ctx, func() []model.Manifest { return model.DeclaredOn(state.Declarations(v), r.on) }, state.Chosen(v), r.namespace(v))
	if err != nil {
		return // each deletion decides for itself
	}
	r.kept = kept
	guarded := ""
	if kept.Guarded {
		guarded = kept.Why
	}
	if guarded != r.toldGuarded {
		r.toldGuarded = guarded
		r.joint.guard(r.rt, r.on, guarded)
	}
	var names []string
	for _, name := range kept.Resources {
		names = append(names, string(name))
	}
	text := ""
	if len(names) > 0 {
		text = fmt.Sprintf("The objects of %s, %s, are kept: %s", words.List(names, "resource"), undeclared, kept.Why)
	}
	if text != "" && text != r.told {
		logstore.Warnf(r.logs.Logger("", "collect", logstore.SourceBuild), "%s", text)
	}
	r.told = text
}

// stays reports whether the objects of a resource that leaves stay as they are.
func (r *run) stays(v store.View, was state.Resource) bool {
	if was.Next != nil {
		return false
	}
	guarded := was.Manifest.IsK8s() && r.kept.Why != ""
	return guarded || !state.Chosen(v)(was.Manifest.Name)
}

// release deletes the objects that the prune guard keeps when the user has asked for it.
func (r *run) release(v store.View) {
	if !r.reaches(v) {
		return
	}
	if now := state.TheSession(v).PruneGuard.Released; now != r.asked && !r.deletions.runs(pruning) {
		r.asked = now
		declared, chosen, namespace := model.DeclaredOn(state.Declarations(v), r.on), state.Chosen(v), r.namespace(v)
		r.deletions.start(pruning, "", func(ctx, _ context.Context) error {
			log := r.logs.Logger("", "collect", logstore.SourceBuild)
			if len(r.beside(ctx)) > 0 {
				logstore.Warnf(log, "Another session works on this project, and may need what would be deleted: hone gc looks at it, too")
				return nil
			}
			if err := r.cluster.Prune(ctx, declared, chosen, namespace, log); err != nil {
				return r.report("", fmt.Errorf("delete what is no longer declared: %w", err))
			}
			return nil
		})
	}
}
