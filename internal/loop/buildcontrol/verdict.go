package buildcontrol

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// A test judges its basis: the revisions of all enabled resources that it depends on, directly or through others. It begins once all
// of them have settled, and its verdict is only about that basis. Nothing marks a verdict as old. Readers compare the basis of the
// newest run with the revisions of the moment:
//
//	verdict holds ──a file is saved, an update begins or is due──> old ──the same revisions, all applied──> verdict holds
//	                                                                │
//	                                                                └──others, all settled──> the test runs
//
// A crash is no new revision: the test may have caused it.

// judged are the answers about all that a test depends on.
type judged struct {
	basis state.Basis
	// behind do not have their newest saved files yet; unready do, and are not ready.
	behind, unready []model.ManifestName
}

// judge looks at all that a test depends on.
func (d *decision) judge(r *resource) judged {
	if j, known := d.judgments[r.name]; known {
		return j
	}
	j := judged{basis: state.Basis{}}
	d.judgments[r.name] = j // in a circle
	d.eachNeed(r.manifest, map[model.ManifestName]bool{r.name: true}, func(o *resource) {
		j.basis[o.name] = o.revision
		switch {
		case d.isBehind(o):
			j.behind = append(j.behind, o.name)
		case !readyNow(d.view, *o.manifest, *o.update, o.pods):
			j.unready = append(j.unready, o.name)
		}
	})
	d.judgments[r.name] = j
	return j
}

// eachNeed calls f for each enabled resource that a manifest depends on, directly or through others.
func (d *decision) eachNeed(m *model.Manifest, seen map[model.ManifestName]bool, f func(*resource)) {
	for _, name := range m.ResourceDeps {
		if o, ok := d.named(name); ok && !seen[name] {
			seen[name] = true
			f(o)
			d.eachNeed(o.manifest, seen, f)
		}
	}
}

// isBehind reports whether a resource does not run its newest saved files, as far as hone brings them.
func (d *decision) isBehind(r *resource) bool {
	last, built := r.update.Last()
	failed, moving := !built || last.Err != "", r.leaving || r.updating()
	if failed || moving {
		return true
	}
	return r.update.AnySending() || wants(r).reason != 0 || d.isOutdated(r)
}

// isOutdated reports whether the newest verdict of a test is about other revisions than the newest ones.
func (d *decision) isOutdated(r *resource) bool {
	last, built := r.update.Last()
	if !r.manifest.IsTest() || !built {
		return false
	}
	return !d.judge(r).applies(last.Basis)
}

// applies reports whether a basis is about the newest saved files.
func (j judged) applies(b state.Basis) bool { return len(j.behind) == 0 && j.basis.Equal(b) }

// holdNewest holds a test until all that it depends on runs the newest saved files, and is ready.
func (d *decision) holdNewest(r *resource) (Hold, bool) {
	if !r.manifest.IsTest() {
		return Hold{}, false
	}
	j := d.judge(r)
	on := slices.Concat(j.behind, j.unready)
	return Hold{Reason: HoldNewest, On: on}, len(on) > 0
}

// BasisOf returns the revisions that a test which begins now would judge; nil for a resource that is none.
func BasisOf(v store.View, name model.ManifestName) state.Basis {
	d := newDecision(v)
	if r, ok := d.named(name); ok && r.manifest.IsTest() {
		return d.judge(r).basis
	}
	return nil
}

// Holds reports whether a verdict on a basis is about the newest saved files of all that the test depends on.
func Holds(v store.View, name model.ManifestName, basis state.Basis) bool {
	d := newDecision(v)
	r, ok := d.named(name)
	return ok && d.judge(r).applies(basis)
}

// Overtaken reports whether files of a test itself, or its declaration, have changed since it began.
func Overtaken(u *state.Update, began time.Time) bool {
	if u.Declared.After(began) {
		return true
	}
	for _, changes := range u.Changes {
		if changes.Newest().After(began) {
			return true
		}
	}
	return false
}

// Outdated reports whether a resource is a test whose newest verdict is not about the newest saved files of all that it depends on. Only
// for a test does it take a decision about all resources: asked of each resource after each change, the decisions took a third of the CPU
// time of a start with 1,000 of them.
func Outdated(v store.View, m *model.Manifest) bool {
	return m.IsTest() && Decide(v, nil).Outdated[m.Name]
}
