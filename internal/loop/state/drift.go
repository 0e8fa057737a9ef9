package state

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Drift is an entry of table drifts; its id is the resource's name. A resource without drift has none.
type Drift struct {
	// Objects are the objects that differ from their last applied state, by kind, namespace and name.
	Objects []ObjectDrift
	// Accept are the fields that the user leaves to those who have changed them, until that is recorded.
	Accept []AcceptedFields
}

// AcceptedFields are fields of an object, by their paths as in FieldChange.
type AcceptedFields struct {
	Object model.ObjectID
	Paths  []string
}

// ObjectDrift describes the difference between one object and its last applied state.
type ObjectDrift struct {
	Object model.ObjectID
	// UID is the UID of the object that was applied.
	UID  string
	What DriftKind
	// Fields are the fields that differ, by path: From is the value in the cluster, To the one that was applied. They are never
	// changed.
	Fields []api.FieldChange
	// Replaces is set if applying it again would delete the object and make it again.
	Replaces bool
	// Reason adds details in a few words; it may be empty.
	Reason string
	// Keep is set if the session applies the object again by itself.
	Keep bool
	// Since is the time at which hone noticed this difference. The reducer fills it in.
	Since time.Time
}

// DriftKind is the kind of change that others have made to an object.
type DriftKind string

// The kinds of drift.
const (
	DriftChanged DriftKind = "changed"
	DriftDeleted DriftKind = "deleted"
	DriftRemade  DriftKind = "made again" // deleted, and created under the same name
)

// same reports whether both are the same drift, whenever they were noticed.
func (o ObjectDrift) same(other ObjectDrift) bool {
	other.Since = o.Since
	return reflect.DeepEqual(o, other)
}

// Equal reports whether both hold the same drift, whenever it was noticed.
func (d Drift) Equal(other Drift) bool {
	return slices.EqualFunc(d.Objects, other.Objects, ObjectDrift.same)
}

// What returns the kinds of drift of the objects, each once.
func (d Drift) What() []string {
	var out []string
	for _, o := range d.Objects {
		out = append(out, string(o.What))
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// Text describes the changes of others: "changed by kubectl-edit, deleted". It is empty without drift.
func (d Drift) Text() string {
	if len(d.Objects) == 0 {
		return ""
	}
	by := d.Managers()
	var parts []string
	for _, what := range d.What() {
		if what == string(DriftChanged) && len(by) > 0 {
			what += " by " + by[0]
			if len(by) > 1 {
				what += fmt.Sprintf(" +%d", len(by)-1)
			}
		}
		parts = append(parts, what)
	}
	text := strings.Join(parts, ", ")
	if len(by) == 0 {
		text += " by others"
	}
	return text
}

// Fields returns the fields of all objects that differ.
func (d Drift) Fields() []api.FieldChange {
	var out []api.FieldChange
	for _, o := range d.Objects {
		out = append(out, o.Fields...)
	}
	return out
}

// Managers returns who has changed fields, sorted. It is empty if that is not known.
func (d Drift) Managers() []string {
	var out []string
	for _, f := range d.Fields() {
		if f.Manager != "" {
			out = append(out, f.Manager)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// ResourceDrifted reports the objects of a resource that now differ from their last applied state; none if the drift is gone.
type ResourceDrifted struct {
	Resource model.ManifestName
	Objects  []ObjectDrift
}

// DriftAccepted is the user's request to leave the fields of resources that differ, as they are shown now, to those who have changed
// them: until the declared value of a field changes, or its object is made again.
type DriftAccepted struct {
	Fields map[model.ManifestName][]AcceptedFields
}

// DriftAcceptanceEnded reports that the user's acceptance of fields of a resource is recorded, or could not be.
type DriftAcceptanceEnded struct{ Resource model.ManifestName }

// ResourcesRestored is the user's request to apply resources again as they are declared, over the changes of others. With Adopt,
// objects that others have made again are taken over.
type ResourcesRestored struct {
	Names []model.ManifestName
	Adopt bool
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ResourcesRestored) {
		for _, name := range a.Names {
			d.Update(string(name), func(u Update) Update {
				if !u.Off {
					u.Restore = d.Now()
					if a.Adopt {
						u.Adopt = d.Now()
					}
				}
				return u
			})
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a ResourceDrifted) {
		var lost []string
		keep := false
		for _, o := range a.Objects {
			switch {
			case !o.Keep:
			case o.What == DriftDeleted:
				lost = append(lost, o.UID)
			default:
				keep = true
			}
		}
		d.Update(string(a.Resource), func(u Update) Update {
			if keep && !u.Off {
				u.Keep = d.Now()
			}
			if len(lost) > 0 {
				u = u.lost(lost, d.Now())
			}
			return u
		})
	})
	store.On(Drifts, func(d *store.Draft[Drift], a DriftAccepted) {
		for _, name := range sortedKeys(a.Fields) {
			d.Update(string(name), func(r Drift) Drift {
				r.Accept = a.Fields[name]
				return r
			})
		}
	})
	store.On(Drifts, func(d *store.Draft[Drift], a DriftAcceptanceEnded) {
		d.Update(string(a.Resource), func(r Drift) Drift {
			r.Accept = nil
			return r
		})
	})
	store.On(Drifts, func(d *store.Draft[Drift], a ResourceDrifted) {
		was, known := d.Value(string(a.Resource)), d.Ref(string(a.Resource)) != nil
		if len(a.Objects) == 0 {
			if known {
				d.Delete(string(a.Resource))
			}
			return
		}
		next := Drift{Objects: slices.Clone(a.Objects), Accept: was.Accept}
		for i, o := range next.Objects {
			next.Objects[i].Since = d.Now()
			if j := slices.IndexFunc(was.Objects, o.same); j >= 0 {
				next.Objects[i].Since = was.Objects[j].Since
			}
		}
		if !known || !was.Equal(next) {
			d.PutOwned(string(a.Resource), string(a.Resource), nil, next)
		}
	})
	store.Follow(Drifts, Resources, func(d *store.Draft[Drift], was, is *store.Entry[Resource]) {
		if leaves(was, is) {
			d.Delete(was.ID)
		}
	})
}
