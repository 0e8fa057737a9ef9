package state

import (
	"iter"
	"reflect"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Switch is the user's own choice of whether a resource is enabled. It overrides the Tiltfile, outlives evaluations of the
// Tiltfile, and ends with new arguments for it, which then decide.
type Switch string

// The positions of a switch.
const (
	SwitchNone Switch = "" // the Tiltfile decides
	SwitchOn   Switch = "on"
	SwitchOff  Switch = "off"
)

// enables reports whether a resource with this switch is enabled, given the Tiltfile's choice.
func (s Switch) enables(byTiltfile bool) bool { return s == SwitchOn || s == SwitchNone && byTiltfile }

// ResourcesSwitched is the user's request to enable some resources and disable others. A disabled resource is torn down,
// its objects are deleted, and it comes back switched off; an enabled resource begins as if it were new. Unknown names are
// ignored.
type ResourcesSwitched struct{ On, Off []model.ManifestName }

// TriggerModeChosen is the user's request to update resources in this mode, whatever the Tiltfile declares now or later.
type TriggerModeChosen struct {
	Names []model.ManifestName
	Mode  model.TriggerMode
}

func init() {
	store.On(Resources, func(d *store.Draft[Resource], a ResourcesSwitched) {
		a.each(func(id string, s Switch) {
			revise(d, id, func(r *Resource) { r.Switch, r.Enabled = s, s == SwitchOn })
		})
	})
	store.On(Resources, func(d *store.Draft[Resource], a TriggerModeChosen) {
		for _, name := range a.Names {
			revise(d, string(name), func(r *Resource) { r.Mode, r.Manifest.TriggerMode = &a.Mode, a.Mode })
		}
	})
	store.On(Resources, func(d *store.Draft[Resource], _ TiltfileArgsSet) {
		for e := range d.Refs() {
			revise(d, e.ID, func(r *Resource) { r.Switch = SwitchNone })
		}
	})
}

func (a ResourcesSwitched) each(f func(id string, s Switch)) {
	for _, name := range a.On {
		f(string(name), SwitchOn)
	}
	for _, name := range a.Off {
		f(string(name), SwitchOff)
	}
}

// revise changes the intended state of a resource. A resource that has left the Tiltfile is ignored.
func revise(d *store.Draft[Resource], id string, change func(*Resource)) {
	e := d.Ref(id)
	if e == nil {
		return
	}
	r, stays := Staying(e)
	if !stays {
		return
	}
	change(&r)
	become(d, id, r)
}

// Staying returns the intended state of a resource, and false for a resource that has left the Tiltfile and is being torn
// down: it can no longer be switched.
func Staying(e *store.Entry[Resource]) (Resource, bool) {
	return e.Value.coming(), e.Phase != store.TearingDown || e.Value.Next != nil
}

// coming returns the state of the resource after its teardown, or its current state if it is not being torn down.
func (r Resource) coming() Resource {
	if r.Next != nil {
		return *r.Next
	}
	return r
}

// become brings the entry of a resource to its intended state. A resource that is switched off is torn down first, and a
// resource that is being torn down comes back afterwards.
func become(d *store.Draft[Resource], id string, r Resource) {
	e, was := d.Ref(id), d.Value(id)
	switch {
	case e != nil && e.Phase == store.TearingDown:
		if was.Next == nil || !reflect.DeepEqual(*was.Next, r) {
			was.Next = &r
			d.Put(id, was)
		}
	case was.Enabled && !r.Enabled:
		was.Next = &r
		d.Put(id, was)
		d.Teardown(id)
	case e == nil || !reflect.DeepEqual(was, r):
		d.PutOwned(id, tiltfileOwner, labelsOf(r.Manifest), r)
	}
}

// Enabled yields the resources that are not switched off, those that are being torn down included, in the order of their
// names. The entries must not be changed.
func Enabled(v store.View) iter.Seq[*store.Entry[Resource]] {
	return func(yield func(*store.Entry[Resource]) bool) {
		for e := range Resources.In(v).Refs() {
			if e.Value.Enabled && !yield(e) {
				return
			}
		}
	}
}

// Disabled yields the resources that are switched off, in the order of their names. The entries must not be changed.
func Disabled(v store.View) iter.Seq[*store.Entry[Resource]] {
	return func(yield func(*store.Entry[Resource]) bool) {
		for e := range Resources.In(v).Refs() {
			if !e.Value.Enabled && e.Phase == store.Running && !yield(e) {
				return
			}
		}
	}
}
