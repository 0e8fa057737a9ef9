package intent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Trigger updates the named resources now. The name of the Tiltfile evaluates it again. Every name must belong to an enabled
// resource.
func Trigger(v store.View, names []string) (state.ResourcesTriggered, error) {
	var a state.ResourcesTriggered
	if len(names) == 0 {
		return a, invalid("must specify at least one resource")
	}
	for _, n := range names {
		if n != string(model.TiltfileName) {
			if _, err := enabled(v, n, string(model.TiltfileName)); err != nil {
				return state.ResourcesTriggered{}, err
			}
		}
		a.Names = append(a.Names, model.ManifestName(n))
	}
	return a, nil
}

// Rebuild updates the named resources now, from scratch: their images are built without a cache, and all their pods are
// replaced. Names are as for Trigger.
func Rebuild(v store.View, names []string) (state.ResourcesTriggered, error) {
	a, err := Trigger(v, names)
	a.Rebuild = err == nil
	return a, err
}

// Adopt updates the named resources now, and lets them take over objects of others that they declare. It is refused for a resource
// without objects.
func Adopt(v store.View, names []string) (state.ResourcesTriggered, error) {
	a, err := Trigger(v, names)
	if err != nil {
		return a, err
	}
	for _, n := range names {
		if !state.Resources.In(v).Value(n).Manifest.IsK8s() {
			return state.ResourcesTriggered{}, &Refusal{Impossible, problem.New(n+" declares no objects in a cluster", "choose a resource whose update says that an object exists already")}
		}
	}
	a.Adopt = true
	return a, nil
}

// enabled returns an enabled resource by its name. If there is no resource with this name, the refusal also lists the names
// in besides.
func enabled(v store.View, name string, besides ...string) (state.Resource, error) {
	if known := toggles.In(v); !known.named[name] && !slices.Contains(besides, name) {
		return state.Resource{}, NoResource(v, name, slices.Concat(besides, known.names))
	}
	r := state.Resources.In(v).Value(name)
	if !r.Enabled {
		return state.Resource{}, &Refusal{Impossible, problem.New(fmt.Sprintf("resource %q is disabled", name), "enable it first: hone enable "+name)}
	}
	return r, nil
}

// SetTriggerMode updates the named resources in a trigger mode from now on, regardless of the Tiltfile.
func SetTriggerMode(v store.View, names []string, mode model.TriggerMode) (state.TriggerModeChosen, error) {
	a := state.TriggerModeChosen{Mode: mode}
	if len(names) == 0 {
		return a, invalid("must specify at least one resource")
	}
	known := toggles.In(v)
	for _, n := range names {
		switch {
		case n == string(model.TiltfileName):
			return state.TriggerModeChosen{}, &Refusal{Impossible, problem.New("the Tiltfile has no trigger mode: it is evaluated whenever one of its files changes",
				"hold all updates back instead: hone pause")}
		case !known.named[n]:
			return state.TriggerModeChosen{}, NoResource(v, n, known.names)
		}
		a.Names = append(a.Names, model.ManifestName(n))
	}
	return a, nil
}

// Selection selects resources.
type Selection struct {
	// A resource is selected if it has one of the names or one of the labels. Every name and every label must exist.
	Names, Labels []string
	// All selects every resource; the other fields must be empty.
	All bool
	// Only gives the resources that are not selected the opposite state.
	Only bool
}

// Outcome lists the resources that a switch enables and disables, and the selected ones that it leaves as they are, in the
// order of the Tiltfile.
type Outcome struct{ Enabled, Disabled, Unchanged []string }

// Action returns the action that brings the outcome about; ok is false if there is nothing to change.
func (o Outcome) Action() (a state.ResourcesSwitched, ok bool) {
	for _, n := range o.Enabled {
		a.On = append(a.On, model.ManifestName(n))
	}
	for _, n := range o.Disabled {
		a.Off = append(a.Off, model.ManifestName(n))
	}
	return a, len(a.On)+len(a.Off) > 0
}

// Switch enables or disables the selected resources.
func Switch(v store.View, on bool, s Selection) (Outcome, error) {
	known := toggles.In(v)
	if err := s.check(v, known); err != nil {
		return Outcome{}, err
	}
	var o Outcome
	for _, r := range known.all {
		selected := s.selects(r)
		wanted := on == selected
		switch {
		case !selected && !s.Only:
		case r.Enabled == wanted:
			if selected {
				o.Unchanged = append(o.Unchanged, r.Name)
			}
		case wanted:
			o.Enabled = append(o.Enabled, r.Name)
		default:
			o.Disabled = append(o.Disabled, r.Name)
		}
	}
	return o, nil
}

// SetEnabled enables or disables the named resources; changed is false if they already are.
func SetEnabled(v store.View, on bool, names []string) (a state.ResourcesSwitched, changed bool, err error) {
	o, err := Switch(v, on, Selection{Names: names})
	a, changed = o.Action()
	return a, changed, err
}

func (s Selection) selects(r Toggle) bool {
	return s.All || slices.Contains(s.Names, r.Name) || slices.ContainsFunc(r.labels, func(l string) bool { return slices.Contains(s.Labels, l) })
}

// check refuses a contradictory selection, and names and labels that do not exist.
func (s Selection) check(v store.View, known toggleSet) error {
	chosen := len(s.Names)+len(s.Labels) > 0
	switch {
	case s.All && (chosen || s.Only):
		return invalid("all cannot be combined with manifest_names, labels or only")
	case !s.All && !chosen:
		return invalid("must specify at least one resource")
	}
	for _, n := range s.Names {
		switch {
		case n == string(model.TiltfileName):
			return &Refusal{Unknown, problem.New(n+" cannot be enabled or disabled", "hone stop ends the session")}
		case !known.named[n]:
			return NoResource(v, n, known.names)
		}
	}
	for _, l := range s.Labels {
		if labels := known.labels(); !slices.Contains(labels, l) {
			return NoSuch("label", l, labels)
		}
	}
	return nil
}

// Toggle is a resource that can be enabled or disabled.
type Toggle struct {
	Name    string
	Enabled bool
	labels  []string
	order   int
}

// Switchable returns the resources that can be enabled or disabled, in the order of the Tiltfile. A resource that is being
// torn down counts if it comes back afterwards. The list must not be changed.
func Switchable(v store.View) []Toggle { return toggles.In(v).all }

// toggleSet are the resources that can be enabled or disabled, with their names in the same order.
type toggleSet struct {
	all   []Toggle
	names []string
	named map[string]bool
}

// toggles is made once for all questions: the screen asks for each key in its footer whether it can be used.
var toggles = store.Derive(state.Schema, "toggles", func(v store.View) (known toggleSet) {
	for e := range state.Resources.In(v).Refs() {
		if is, stays := state.Staying(e); stays {
			known.all = append(known.all, Toggle{e.ID, is.Enabled, is.Manifest.Labels, is.Order})
		}
	}
	slices.SortStableFunc(known.all, func(a, b Toggle) int { return cmp.Compare(a.order, b.order) })
	known.named = make(map[string]bool, len(known.all))
	for _, r := range known.all {
		known.names, known.named[r.Name] = append(known.names, r.Name), true
	}
	return known
}, state.Resources)

// labels returns the labels of the resources, sorted.
func (t toggleSet) labels() (labels []string) {
	for _, r := range t.all {
		labels = append(labels, r.labels...)
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}
