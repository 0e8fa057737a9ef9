package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// stepsAtOnce is how many steps run at a time. A step that takes longer than stepPatience no longer counts, because
	// it mostly waits.
	stepsAtOnce  = 5
	stepPatience = 5 * time.Second
)

// deletion is the walk of a deleteRun. Each object has a node that deletes it and, with Wait, a node that waits until
// nothing holds it and a node that waits until it is gone. Each step has a node. A resource may have a node before and
// a node after all its other nodes.
type deletion struct {
	r     *deleteRun
	nodes []node
	// order are the objects in the order of deletion; object order[k] has the nodes k, released+k and gone+k.
	order              []int
	at                 []int
	released, gone     int
	steps              int
	opening, completed map[model.ManifestName]int
}

// deleteAll walks the graph backwards. An object is deleted after its dependents; namespaces and definitions also wait
// until their dependents are gone.
func (r *deleteRun) deleteAll(ctx context.Context) error {
	d := &deletion{r: r, order: r.g.order(), at: make([]int, len(r.live)), opening: map[model.ManifestName]int{}, completed: map[model.ManifestName]int{}}
	slices.Reverse(d.order)
	for k, i := range d.order {
		d.at[i] = k
		d.add(title(r.g.ids[i]), nil, false, func(ctx context.Context) error {
			if r.req.Accepted != nil {
				defer r.req.Accepted(r.refs[i].ObjectID)
			}
			return r.deleteOne(ctx, i)
		})
	}
	if r.req.Wait {
		d.addWaits()
	}
	d.addSteps()
	d.orderObjects()
	d.orderResources()
	errs := walk(ctx, d.nodes, r.a.parallelism)
	return d.collectErrors(errs)
}

func (d *deletion) add(name string, after []int, free bool, run func(context.Context) error) int {
	d.nodes = append(d.nodes, node{name: name, after: after, free: free, run: run})
	return len(d.nodes) - 1
}

// before makes node b come after node a.
func (d *deletion) before(a, b int) { d.nodes[b].after = append(d.nodes[b].after, a) }

func (d *deletion) addWaits() {
	d.released = len(d.nodes)
	for k, i := range d.order {
		d.add(title(d.r.g.ids[i]), []int{k}, true, func(ctx context.Context) error { return d.r.awaitRelease(ctx, i) })
	}
	d.gone = len(d.nodes)
	for k, i := range d.order {
		d.add(title(d.r.g.ids[i]), []int{d.released + k}, true, func(ctx context.Context) error { return d.r.awaitGone(ctx, i) })
	}
}

func (d *deletion) addSteps() {
	d.steps = len(d.nodes)
	turns := make(chan struct{}, stepsAtOnce)
	for s, step := range d.r.req.Steps {
		d.add(step.Name, nil, true, func(ctx context.Context) error {
			select {
			case turns <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			leave := sync.OnceFunc(func() { <-turns })
			defer leave()
			defer time.AfterFunc(stepPatience, leave).Stop()
			err := step.Run(ctx)
			d.r.stepsOver[s] = err == nil
			return err
		})
	}
}

// orderObjects orders dependents before the objects that they depend on.
func (d *deletion) orderObjects() {
	for i, needs := range d.r.g.needs {
		for _, n := range needs {
			d.before(d.at[i], d.at[n])
			if d.r.req.Wait && holdsOthers(d.r.g.objects[n]) {
				d.before(d.gone+d.at[i], d.at[n])
			}
		}
	}
}

// orderResources orders resources before their dependencies, and namespaces and definitions after the steps that delete
// objects in them.
func (d *deletion) orderResources() {
	ways := d.objectWays()
	for _, dependent := range slices.Sorted(maps.Keys(d.r.req.Deps)) {
		for _, on := range d.r.req.Deps[dependent] {
			if ways.add(dependent, on) {
				d.before(d.after(dependent), d.ahead(on))
			}
		}
	}
	for s, step := range d.r.req.Steps {
		for k, i := range d.order {
			if holdsOthers(d.r.live[i]) && step.mayNeed(d.r.live[i]) && (d.r.refs[i].Resource == step.Resource || ways.add(step.Resource, d.r.refs[i].Resource)) {
				d.before(d.steps+s, k)
			}
		}
	}
	for name, first := range d.opening {
		d.each(name, func(start, _ int) { d.before(first, start) })
	}
	for name, last := range d.completed {
		d.each(name, func(_, end int) { d.before(end, last) })
	}
}

// ahead returns the node before all other nodes of a resource, after the node that follows them. Both are created on
// demand.
func (d *deletion) ahead(name model.ManifestName) int {
	if n, ok := d.opening[name]; ok {
		return n
	}
	d.opening[name] = d.add(string(name), nil, true, func(context.Context) error { return nil })
	if last, ok := d.completed[name]; ok {
		d.before(d.opening[name], last)
	}
	return d.opening[name]
}

func (d *deletion) after(name model.ManifestName) int {
	if n, ok := d.completed[name]; ok {
		return n
	}
	d.completed[name] = d.add(string(name), nil, true, func(context.Context) error { return nil })
	if first, ok := d.opening[name]; ok {
		d.before(first, d.completed[name])
	}
	return d.completed[name]
}

// each calls f with the first and the last node of every part of a resource that others may depend on.
func (d *deletion) each(name model.ManifestName, f func(start, end int)) {
	for k, i := range d.order {
		if d.r.refs[i].Resource != name {
			continue
		}
		if d.r.req.Wait {
			f(k, d.released+k)
		} else {
			f(k, k)
		}
	}
	for s, step := range d.r.req.Steps {
		if step.Resource == name {
			f(d.steps+s, d.steps+s)
		}
	}
}

// mayNeed reports whether the step deletes, or may delete, objects that would vanish with the given namespace or
// definition.
func (s DeleteStep) mayNeed(holder *unstructured.Unstructured) bool {
	kind, isKind := definedKind(holder)
	return len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, func(id model.ObjectID) bool {
		return isKind && kind == (schema.GroupKind{Group: id.Group, Kind: id.Kind}) || !isKind && id.Namespace == holder.GetName()
	})
}

// ways maps each resource to the resources that go after it.
type ways map[model.ManifestName][]model.ManifestName

// objectWays returns the order of resources that the dependencies between objects require.
func (d *deletion) objectWays() ways {
	w := ways{}
	for i, needs := range d.r.g.needs {
		for _, n := range needs {
			if from, to := d.r.refs[i].Resource, d.r.refs[n].Resource; from != to && !slices.Contains(w[from], to) {
				w[from] = append(w[from], to)
			}
		}
	}
	return w
}

// add orders one resource before another. It reports false if the existing order requires the contrary.
func (w ways) add(from, to model.ManifestName) bool {
	if from == to || model.DependsOn(w, to, from) {
		return false
	}
	if !slices.Contains(w[from], to) {
		w[from] = append(w[from], to)
	}
	return true
}

// collectErrors records the outcomes and joins the errors of the walk, the first one of each object and step. Nodes
// that were blocked by the same node share one error.
func (d *deletion) collectErrors(errs []error) error {
	r := d.r
	var out []error
	blocked := map[string][]string{}
	fail := func(name, node string, err error) {
		var b *blockedError
		if errors.As(err, &b) {
			blocked[b.by] = append(blocked[b.by], node)
			return
		}
		out = append(out, fmt.Errorf("delete %s: %w", name, err))
	}
	for k, i := range d.order {
		err := errs[k]
		if r.req.Wait {
			err = firstError(err, errs[d.released+k], errs[d.gone+k])
		}
		switch f := &r.fates[i]; {
		case f.kept != "":
			r.outcomes[r.refs[i]] = OutcomeKept
			logstore.Infof(r.req.Logger, "%s: %s, kept", title(r.g.ids[i]), f.kept)
		case err != nil:
			fail(title(r.g.ids[i]), title(r.g.ids[i]), err)
		case staysBehind(r.live[i]):
			r.outcomes[r.refs[i]] = OutcomeGivenBack
		case r.req.Look && !f.gone:
			r.outcomes[r.refs[i]] = OutcomeGoing
		default:
			r.outcomes[r.refs[i]] = OutcomeDeleted
		}
	}
	for s, step := range r.req.Steps {
		if err := errs[d.steps+s]; err != nil {
			fail(string(step.Resource), step.Name, err)
		}
	}
	for _, by := range slices.Sorted(maps.Keys(blocked)) {
		out = append(out, fmt.Errorf("%s had to go first; not deleted: %s", by, strings.Join(blocked[by], ", ")))
	}
	return errors.Join(out...)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Unfinished is the error of a deletion that was interrupted. It names what is left.
type Unfinished struct {
	// Going are the objects whose deletion the API server has accepted, with what holds them. Left are the objects
	// whose deletion was not requested, and the steps that were not completed.
	Going, Left []string
	cause       error
}

// Error names what is left.
func (u *Unfinished) Error() string {
	var parts []string
	if len(u.Going) > 0 {
		parts = append(parts, "still being deleted: "+enumerate(u.Going))
	}
	if len(u.Left) > 0 {
		parts = append(parts, "not deleted: "+enumerate(u.Left))
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns why the deletion was interrupted.
func (u *Unfinished) Unwrap() error { return u.cause }

var _ error = (*Unfinished)(nil)

// unfinished returns an *Unfinished, or nil if nothing is left.
func (r *deleteRun) unfinished(cause error) error {
	u := &Unfinished{cause: cause}
	for i, f := range r.fates {
		switch {
		case f.kept != "", !r.req.Wait && f.asked:
		case f.asked && !f.gone && len(f.podsLeft) == 0:
			u.Going = append(u.Going, heldName(r.targets[i], f.held))
		case f.asked || f.gone:
			u.Going = append(u.Going, f.podsLeft...)
		default:
			u.Left = append(u.Left, title(r.refs[i].ObjectID))
		}
	}
	for _, ref := range r.unseen {
		u.Left = append(u.Left, title(ref.ObjectID))
	}
	for s, over := range r.stepsOver {
		if !over {
			u.Left = append(u.Left, r.req.Steps[s].Name)
		}
	}
	if len(u.Going)+len(u.Left) == 0 {
		return nil
	}
	return u
}
