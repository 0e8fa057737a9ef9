package state

import (
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ForwardChoice is the user's own choice of a resource's port forwards. It outlives evaluations of the Tiltfile, except
// where the Tiltfile begins to declare a port that the user has added, or ceases to declare one that the user has removed.
type ForwardChoice struct {
	// Declared are the forwards that the Tiltfile declares. In the manifest the chosen ones replace them.
	Declared []model.PortForward
	// Added are the user's own forwards, and Removed the declared ones that the user does not want.
	Added, Removed []model.PortForward
}

// AddedForward reports whether the user has added a forward of the resource in this session.
func (r Resource) AddedForward(f model.PortForward) bool {
	return r.Forwards != nil && slices.Contains(r.Forwards.Added, f)
}

// ForwardsChosen is the user's request to remove and to add port forwards of a resource, in this order.
type ForwardsChosen struct {
	Resource       model.ManifestName
	Removed, Added []model.PortForward
}

func init() {
	store.On(Resources, func(d *store.Draft[Resource], a ForwardsChosen) {
		revise(d, string(a.Resource), func(r *Resource) {
			if r.Manifest.K8s == nil {
				return
			}
			c := ForwardChoice{Declared: r.Manifest.K8s.PortForwards}
			if r.Forwards != nil {
				c = *r.Forwards
			}
			r.forward(c.changed(a))
		})
	})
}

// changed applies a request to a choice.
func (c ForwardChoice) changed(a ForwardsChosen) ForwardChoice {
	for _, f := range a.Removed {
		c.Added = except(c.Added, f)
		if slices.Contains(c.Declared, f) {
			c.Removed = append(except(c.Removed, f), f)
		}
	}
	for _, f := range a.Added {
		if c.Removed = except(c.Removed, f); !slices.Contains(c.Declared, f) {
			c.Added = append(except(c.Added, f), f)
		}
	}
	return c
}

// redeclared applies a new declaration to a choice.
func (c ForwardChoice) redeclared(declared []model.PortForward) ForwardChoice {
	next := ForwardChoice{Declared: declared}
	for _, f := range c.Removed {
		if slices.Contains(declared, f) {
			next.Removed = append(next.Removed, f)
		}
	}
	for _, f := range c.Added {
		same := func(o model.PortForward) bool { return o.SameAddress(f) && !slices.Contains(next.Removed, o) }
		if !slices.ContainsFunc(declared, same) {
			next.Added = append(next.Added, f)
		}
	}
	return next
}

// forward makes the manifest hold the chosen forwards. The manifest of before is not changed.
func (r *Resource) forward(c ForwardChoice) {
	k := *r.Manifest.K8s
	r.Manifest.K8s, r.Forwards = &k, &c
	if len(c.Added)+len(c.Removed) == 0 {
		k.PortForwards, r.Forwards = c.Declared, nil
		return
	}
	k.PortForwards = slices.DeleteFunc(slices.Clone(c.Declared), func(f model.PortForward) bool { return slices.Contains(c.Removed, f) })
	k.PortForwards = append(k.PortForwards, c.Added...)
}

// except returns a copy of list without f.
func except(list []model.PortForward, f model.PortForward) []model.PortForward {
	return slices.DeleteFunc(slices.Clone(list), func(o model.PortForward) bool { return o == f })
}
