package intent

import (
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Restore applies the named resources again as they are declared, over the changes of others in the cluster. Objects that others
// have made again are taken over. It is refused for a resource without drift.
func Restore(v store.View, names []string) (a state.ResourcesRestored, err error) {
	all, err := drifted(v, names)
	if err != nil {
		return a, err
	}
	for i, d := range all {
		a.Names = append(a.Names, model.ManifestName(names[i]))
		for _, o := range d.Objects {
			a.Adopt = a.Adopt || o.What == state.DriftRemade
		}
	}
	return a, nil
}

// Accept leaves the fields of the named resources that others have changed to them: until the declared value of a field changes,
// or its object is made again. It is refused for a resource without a changed field: a missing object cannot be accepted.
func Accept(v store.View, names []string) (a state.DriftAccepted, err error) {
	all, err := drifted(v, names)
	if err != nil {
		return a, err
	}
	a.Fields = map[model.ManifestName][]state.AcceptedFields{}
	for i, d := range all {
		if len(d.Accept) > 0 {
			return state.DriftAccepted{}, &Refusal{Impossible, problem.New("the changes of others to "+names[i]+" are being accepted already", "")}
		}
		var fields []state.AcceptedFields
		var others []string
		for _, o := range d.Objects {
			f := state.AcceptedFields{Object: o.Object}
			for _, c := range o.Fields {
				f.Paths = append(f.Paths, c.Path)
			}
			if o.What == state.DriftChanged && len(f.Paths) > 0 {
				fields = append(fields, f)
			} else {
				others = append(others, fmt.Sprintf("%s/%s was %s", strings.ToLower(o.Object.Kind), o.Object.Name, o.What))
			}
		}
		if len(fields) == 0 {
			return state.DriftAccepted{}, &Refusal{Impossible, problem.New("only changed fields can be accepted: "+strings.Join(others, ", "),
				"restore it, or remove it from the Tiltfile")}
		}
		a.Fields[model.ManifestName(names[i])] = fields
	}
	return a, nil
}

// drifted returns the drift of enabled resources, all of which have some.
func drifted(v store.View, names []string) ([]state.Drift, error) {
	if len(names) == 0 {
		return nil, invalid("must specify at least one resource")
	}
	var out []state.Drift
	for _, n := range names {
		r, err := enabled(v, n)
		if err != nil {
			return nil, err
		}
		e := state.Drifts.In(v).Ref(n)
		switch {
		case !r.Manifest.IsK8s():
			return nil, &Refusal{Impossible, problem.New(n+" declares no objects in a cluster", "")}
		case e == nil:
			return nil, &Refusal{Impossible, problem.New("the objects of "+n+" in the cluster are as they were applied last", "")}
		}
		out = append(out, e.Value)
	}
	return out, nil
}
