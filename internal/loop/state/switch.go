package state

import (
	"iter"
	"reflect"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Switch is the user's own word on whether a resource is enabled. It goes before what the Tiltfile says, outlives the
// evaluations of the Tiltfile, and ends with new arguments for it, which decide what is enabled.
type Switch string

// The positions of a switch.
const (
	SwitchNone Switch = "" // the Tiltfile decides
	SwitchOn   Switch = "on"
	SwitchOff  Switch = "off"
)

// enables reports whether a resource with this switch is enabled, given what the Tiltfile says.
func (s Switch) enables(byTiltfile bool) bool { return s == SwitchOn || s == SwitchNone && byTiltfile }

// ResourcesSwitched is the user's wish to enable some resources and disable others. One that is disabled is torn down, its
// objects are deleted, and it comes back switched off; one that is enabled begins as if it were new. Names that no
// resource has are passed over.
type ResourcesSwitched struct{ On, Off []model.ManifestName }

// TriggerModeChosen is the user's wish that resources are updated in this mode, whatever the Tiltfile says now or later.
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
		for e := range d.All() {
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

// revise changes what a resource is to be. One that has left the Tiltfile is not to be anything any more.
func revise(d *store.Draft[Resource], id string, change func(*Resource)) {
	e, ok := d.Get(id)
	if !ok {
		return
	}
	r, stays := Staying(&e)
	if !stays {
		return
	}
	change(&r)
	become(d, id, r)
}

// Staying returns the resource as it is to be once what is under way is done, and false for one that is on its way out of the
// Tiltfile: nobody can switch that any more.
func Staying(e *store.Entry[Resource]) (Resource, bool) {
	return e.Value.coming(), e.Phase != store.TearingDown || e.Value.Next != nil
}

// coming returns what the resource is to be once it is torn down, or what it is where it is not.
func (r Resource) coming() Resource {
	if r.Next != nil {
		return *r.Next
	}
	return r
}

// become makes the entry of a resource hold what the resource is to be. One that is switched off is torn down first, and
// one that is being torn down comes back afterwards.
func become(d *store.Draft[Resource], id string, r Resource) {
	e, ok := d.Get(id)
	switch {
	case ok && e.Phase == store.TearingDown:
		if e.Value.Next == nil || !reflect.DeepEqual(*e.Value.Next, r) {
			e.Value.Next = &r
			d.Put(id, e.Value)
		}
	case ok && e.Value.Enabled && !r.Enabled:
		e.Value.Next = &r
		d.Put(id, e.Value)
		d.Teardown(id)
	case !ok || !reflect.DeepEqual(e.Value, r):
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
