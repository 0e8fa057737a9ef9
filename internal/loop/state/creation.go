package state

import (
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Creation summarizes the events about the pods that Kubernetes should create for an object. The times are the cluster's, in
// whole seconds; they are zero if there was no such event.
type Creation struct {
	// MadeAt is the time at which a pod was last created.
	MadeAt time.Time
	// RefusedAt is the time at which the creation of a pod was last refused, and Why the reason.
	RefusedAt time.Time
	Why       string
}

// The reasons of the events about an object's pods.
const (
	reasonCreated = "SuccessfulCreate"
	reasonRefused = "FailedCreate"
)

func init() {
	store.On(Updates, func(d *store.Draft[Update], a KubeEventsSeen) {
		for _, name := range sortedKeys(a.Events) {
			if e := d.Ref(string(name)); e != nil {
				u := e.Value
				if creations, news := u.created(a.Events[name]); news {
					u.Creations = creations
					d.Put(e.ID, u)
				}
			}
		}
	})
}

// created returns the newest attempts after events in any order, and whether they contain news.
func (d Deployed) created(events []KubeEvent) (creations map[string]Creation, news bool) {
	creations = d.Creations
	for _, e := range events {
		if !reportsByEvents(e.Object) || !d.Applies(e.ObjectUID) {
			continue
		}
		was := creations[e.ObjectUID]
		is := was.after(e)
		if is != was {
			creations, news = with(creations, e.ObjectUID, is), true
		}
	}
	return creations, news
}

// after returns the attempts with one more event, which may be older.
func (c Creation) after(e KubeEvent) Creation {
	switch e.Reason {
	case reasonCreated:
		// A StatefulSet also creates claims, whether or not their pod is refused.
		if e.LastSeen.After(c.MadeAt) && !strings.HasPrefix(e.Message, "create Claim ") {
			c.MadeAt = e.LastSeen
		}
	case reasonRefused:
		if why := model.RefusedPods(e.Message); why != "" && e.LastSeen.After(c.RefusedAt) {
			c.RefusedAt, c.Why = e.LastSeen, why
		}
	}
	return c
}

// reportsByEvents reports whether only events tell that the pods of an object of this kind are refused.
func reportsByEvents(id model.ObjectID) bool {
	switch id.Group {
	case "apps":
		return id.Kind == "StatefulSet" || id.Kind == "DaemonSet"
	case "batch":
		return id.Kind == "Job"
	}
	return false
}

// Applies reports whether the last successful deploy applied the object with a UID.
func (d Deployed) Applies(uid string) bool {
	return slices.ContainsFunc(d.Applied, func(o model.AppliedObject) bool { return o.UID == uid })
}

// Refusal returns why an object does not get its pods, if the creation of pods has been refused since its newest spec was
// written, no pod was created afterwards, and some are still missing. An object that loses a pod later is not refused one.
func (d Deployed) Refusal(o model.ObjectStatus) (why string, refused bool) {
	c := d.Creations[o.UID]
	if o.PodsMissingSince.IsZero() || o.Health != model.HealthInProgress {
		return "", false
	}
	refused = c.RefusedAt.After(c.MadeAt) && !c.RefusedAt.Before(o.PodsMissingSince)
	if !refused {
		return "", false
	}
	return c.Why, true
}
