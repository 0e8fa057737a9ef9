package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Restart is an entry of table restarts: the newest restart of a resource that the user requested. Its id is the resource's
// name.
type Restart struct {
	Resource model.ManifestName
	// Serial numbers the restarts of the resource, from 1.
	Serial int
	// Pods is set if pods are replaced; otherwise only the processes are restarted.
	Pods        bool
	RequestedAt time.Time
	// EndedAt is zero until the restart has ended. Err is why it failed; Done describes the processes or pods that were restarted,
	// also if the rest failed.
	EndedAt time.Time
	Done    []string
	Err     string
}

// Running reports whether the restart has not ended yet.
func (r Restart) Running() bool { return r.Serial > 0 && r.EndedAt.IsZero() }

// ResourcesRestarted is the user's request to restart the processes of resources, or with Pods their pods.
type ResourcesRestarted struct {
	Names []model.ManifestName
	Pods  bool
}

// RestartEnded reports that a restart has ended, as in Restart.
type RestartEnded struct {
	Resource model.ManifestName
	Serial   int
	Done     []string
	Err      string
}

func init() {
	store.On(Restarts, func(d *store.Draft[Restart], a RestartEnded) {
		d.Update(string(a.Resource), func(r Restart) Restart { return r.ended(a.Serial, a.Done, a.Err, d.Now()) })
	})
	// The state of a local resource's server shows that its restart has ended.
	store.Follow(Restarts, Processes, func(d *store.Draft[Restart], _, is *store.Entry[Process]) {
		if is == nil || is.Value.State != ProcessRunning && is.Value.State != ProcessFailed {
			return
		}
		was := d.Value(is.ID)
		next := was.ended(is.Value.Restart, []string{"serve_cmd"}, is.Value.Err, d.Now())
		if d.Ref(is.ID) != nil && !next.EndedAt.Equal(was.EndedAt) {
			d.Put(is.ID, next)
		}
	})
	store.On(Restarts, func(d *store.Draft[Restart], a ResourcesRestarted) {
		for _, name := range a.Names {
			next := Restart{Resource: name, Serial: d.Value(string(name)).Serial + 1, Pods: a.Pods, RequestedAt: d.Now()}
			d.PutOwned(string(name), string(name), nil, next)
		}
	})
	store.Follow(Restarts, Resources, func(d *store.Draft[Restart], was, is *store.Entry[Resource]) {
		if is == nil || is.Phase == store.TearingDown {
			d.Delete(cmp.Or(is, was).ID)
		}
	})
}

// ended records the end of the restart with the given serial.
func (r Restart) ended(serial int, done []string, err string, at time.Time) Restart {
	if r.Running() && r.Serial == serial {
		r.EndedAt, r.Done, r.Err = at, done, err
	}
	return r
}

// OwnPods returns the pods of a resource that its newest deploy has created and that neither are being deleted nor have run to
// completion. Pods that belong to the resource only because of their labels count only if the deploy has applied their template.
func OwnPods(u Update, pods []Pod) (own []Pod) {
	for _, p := range pods {
		labelled := p.TemplateHash != "" && slices.ContainsFunc(u.Applied, func(o model.AppliedObject) bool { return o.TemplateHash == p.TemplateHash })
		created := !p.OfCompose() && (!p.Selected || labelled)
		if created && p.Stands() && p.Phase != "Succeeded" {
			own = append(own, p)
		}
	}
	return own
}

// Supervised returns the running containers of a resource's current pods whose processes run under the synclet, so that they
// can be restarted in place.
func Supervised(v store.View, name model.ManifestName) (out []model.ContainerRef) {
	synclets := Synclets.In(v)
	for _, p := range PodsOf(v, name) {
		if !p.Stands() || p.OfCompose() {
			continue
		}
		for _, c := range p.LastingContainers() {
			if c.State == model.ContainerRunning && synclets.Value(c.ID).Supervised {
				out = append(out, model.ContainerRef{Resource: name, Namespace: p.Namespace, Pod: p.Name, Name: c.Name, ID: c.ID})
			}
		}
	}
	return out
}
