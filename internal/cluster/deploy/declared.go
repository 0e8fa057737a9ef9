package deploy

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Revised returns the steps from the revision before to a revision, as Differences does. For an unknown revision, it returns a problem that
// names the known ones.
func Revised(l *ledger.Ledger, number int) ([]api.PlanStep, error) {
	is, err := l.Declared(number)
	if err != nil {
		return nil, err
	}
	all, err := l.History()
	if err != nil {
		return nil, err
	}
	var was ledger.Objects
	if i := slices.IndexFunc(all, func(r ledger.Revision) bool { return r.Number == number }); i > 0 {
		if was, err = l.Declared(all[i-1].Number); err != nil {
			return nil, err
		}
	}
	steps := Differences(was, is)
	if i := slices.IndexFunc(all, func(r ledger.Revision) bool { return r.Number == number }); i >= 0 && all[i].OnlyForgot() {
		for i := range steps {
			if steps[i].Action == api.ActionDelete {
				steps[i].Action, steps[i].Reason = api.ActionOrphan, "it stayed in the cluster, and hone forgot it"
			}
		}
	}
	return steps, nil
}

// Differences returns the steps from the objects of one revision to those of another: the objects that were created, updated and deleted,
// with the fields that differ. Values of Secrets are not in it.
func Differences(was, is ledger.Objects) []api.PlanStep {
	before, after := declaredIn(was), declaredIn(is)
	var out []api.PlanStep
	for id, now := range after {
		step := api.PlanStep{Object: planObject(id), Resource: now.resource, Action: api.ActionCreate}
		if then, existed := before[id]; existed {
			step.Action, step.Fields = api.ActionUpdate, declaredChanges(then.object, now.object)
			if then.resource == now.resource && len(step.Fields) == 0 {
				continue
			}
		}
		out = append(out, step)
	}
	for id, then := range before {
		if _, stays := after[id]; !stays {
			out = append(out, api.PlanStep{Object: planObject(id), Resource: then.resource, Action: api.ActionDelete})
		}
	}
	slices.SortFunc(out, func(a, b api.PlanStep) int { return idOf(a.Object).Compare(idOf(b.Object)) })
	return out
}

// declaredObject is an object of a revision; object is nil if its declaration is unknown.
type declaredObject struct {
	resource string
	object   *unstructured.Unstructured
}

// declaredIn returns the objects of a revision that hone has applied.
func declaredIn(revision ledger.Objects) map[model.ObjectID]declaredObject {
	out := map[model.ObjectID]declaredObject{}
	for name, list := range revision {
		for _, d := range list {
			u := &unstructured.Unstructured{}
			if d.Object == nil || u.UnmarshalJSON(d.Object) != nil {
				u = nil
			}
			out[d.Record.ObjectID] = declaredObject{string(name), u}
		}
	}
	return out
}

func idOf(o api.PlanObject) model.ObjectID {
	return model.ObjectID{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// declaredChanges returns the fields in which two declarations of an object differ. All of their fields are hone's.
func declaredChanges(was, is *unstructured.Unstructured) []api.FieldChange {
	if was == nil || is == nil {
		return nil
	}
	d := fieldDiff{owners: []owner{{name: FieldManager, mine: true, all: true}}, known: true, secret: isSecret(is)}
	return d.objects(was.Object, is, was, is)
}
