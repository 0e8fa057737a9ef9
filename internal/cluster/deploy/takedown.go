package deploy

import (
	"cmp"
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

	"github.com/hone-dev/hone/internal/base/dag"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/operation"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// stepsAtOnce is the most steps that run at a time. A step that takes longer than stepPatience no longer counts, because it
	// mostly waits.
	stepsAtOnce  = 5
	stepPatience = 5 * time.Second
)

// deleteAll deletes the objects and runs the steps, as one operation. An object is deleted after its dependents; namespaces and
// definitions also wait until their dependents are gone.
func (r *deleteRun) deleteAll(ctx context.Context) error {
	order := r.g.order()
	nodes := r.g.nodes(order, objects{del: r})
	for k, i := range order {
		nodes[k].Resource, nodes[k].Holds = r.refs[i].Resource, holdsOthers(r.live[i])
	}
	steps := &steps{r: r, turns: make(chan struct{}, stepsAtOnce)}
	for s, step := range r.req.Steps {
		n := step.Node
		n.Item, n.Runtime, n.Free, n.Whole, n.Needs = s, steps, true, true, nil
		for _, need := range step.Needs {
			n.Needs = append(n.Needs, len(order)+need)
		}
		for k := len(order) - 1; k >= 0; k-- {
			if live := r.live[order[k]]; holdsOthers(live) && step.mayNeed(live) {
				n.Rather = append(n.Rather, k)
			}
		}
		nodes = append(nodes, n)
	}
	op, err := operation.New(nodes)
	if err != nil { // newGraph has looked for cycles
		return err
	}
	errs := op.Delete(ctx, operation.DeleteOptions{Limit: r.a.parallelism, Wait: r.req.Wait, Deps: r.req.Deps})
	return r.collectErrors(order, errs)
}

// steps is the operation.Runtime of the steps of a deletion: it lets only a few run at a time, and notes which have succeeded. They can
// only be deleted.
type steps struct {
	r     *deleteRun
	turns chan struct{}
}

var _ operation.Runtime = (*steps)(nil)

// Delete implements operation.Runtime.
func (s *steps) Delete(ctx context.Context, item int) error {
	select {
	case s.turns <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	leave := sync.OnceFunc(func() { <-s.turns })
	defer leave()
	defer time.AfterFunc(stepPatience, leave).Stop()
	step := s.r.req.Steps[item]
	over := s.r.waits.step(step.Name)
	err := step.Runtime.Delete(ctx, step.Item)
	over()
	s.r.stepsOver[item] = err == nil
	return err
}

// Plan implements operation.Runtime.
func (*steps) Plan(context.Context, int) (*api.PlanStep, error) { return nil, nil }

// Record implements operation.Runtime.
func (*steps) Record(context.Context, []int) error { return nil }

// Apply implements operation.Runtime.
func (*steps) Apply(context.Context, int) error { return errors.ErrUnsupported }

// Await implements operation.Runtime.
func (*steps) Await(context.Context, int, operation.State) error { return nil }

// mayNeed reports whether the step deletes, or may delete, objects that would vanish with the given namespace or
// definition.
func (s DeleteStep) mayNeed(holder *unstructured.Unstructured) bool {
	within := func(id model.ObjectID) bool { return id.Namespace == holder.GetName() }
	if kind, isKind := definedKind(holder); isKind {
		within = func(id model.ObjectID) bool { return kind == schema.GroupKind{Group: id.Group, Kind: id.Kind} }
	}
	return len(s.Objects) == 0 || slices.ContainsFunc(s.Objects, within)
}

// collectErrors records the outcomes and joins the errors of the objects, in the reverse of order, and of the steps. Nodes that were
// blocked by the same node share one error.
func (r *deleteRun) collectErrors(order []int, errs []error) error {
	var out []error
	blocked := map[string][]string{}
	fail := func(verb, name, node string, err error) {
		var b *dag.Blocked
		if errors.As(err, &b) {
			blocked[b.By] = append(blocked[b.By], node)
			return
		}
		out = append(out, fmt.Errorf("%s %s: %w", verb, name, err))
	}
	for k, i := range slices.Backward(order) {
		err := errs[k]
		switch f := &r.fates[i]; {
		case f.kept != "":
			r.outcomes[r.refs[i]] = OutcomeKept
			logstore.Infof(r.req.Logger, "%s: %s, kept", title(r.g.ids[i]), f.kept)
		case err != nil:
			fail("delete", title(r.g.ids[i]), title(r.g.ids[i]), err)
		case r.found[i].outcome == OutcomeGivenBack, f.left:
			r.outcomes[r.refs[i]] = OutcomeGivenBack
		case r.req.Look && !f.gone:
			r.outcomes[r.refs[i]] = OutcomeGoing
		default:
			r.outcomes[r.refs[i]] = OutcomeDeleted
		}
	}
	for s, step := range r.req.Steps {
		if err := errs[len(order)+s]; err != nil {
			fail("take down", cmp.Or(string(step.Resource), step.Name), step.Name, err)
		}
	}
	for _, by := range slices.Sorted(maps.Keys(blocked)) {
		out = append(out, fmt.Errorf("%s had to go first; left: %s", by, strings.Join(blocked[by], ", ")))
	}
	return errors.Join(out...)
}

// Unfinished is the error of a deletion that was interrupted. It names the remaining work.
type Unfinished struct {
	// Going are the objects whose deletion the API server has accepted, with their blockers. Left are the objects whose
	// deletion was not requested, and the steps that were not completed.
	Going, Left []string
	cause       error
}

// Error names the remaining objects and steps.
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
			u.Going = append(u.Going, heldName(r.found[i].t, f.held))
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
