// Package deploydiscovery follows the objects that resources applied, for their health: whether a rollout is through, a
// volume bound, a job complete, a custom resource ready. It says when one is gone that should be there.
package deploydiscovery

import (
	"context"

	"github.com/hone-dev/hone/internal/buildcontrol"
	"github.com/hone-dev/hone/internal/deploy"
	"github.com/hone-dev/hone/internal/k8s"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/internal/task"
	"github.com/hone-dev/hone/pkg/model"
)

// Client is the part of a cluster that is needed here.
type Client interface {
	WatchObjects(ctx context.Context, apiVersion, kind string, req k8s.WatchRequest, fn func(k8s.ObjectEvent)) error
}

// Subscriber is DeployDiscovery. Run owns one goroutine per kind and namespace of applied objects that have a status or should stay.
type Subscriber struct{ client Client }

// New returns the subscriber; a nil client watches nothing.
func New(client Client) *Subscriber { return &Subscriber{client: client} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "DeployDiscovery",
		Doc:       "Follows the objects that resources applied, for their health, and notices when one went missing.",
		Inputs:    store.Reads(state.Updates),
		Outputs:   append(store.Emits(state.ObjectsChanged{}, state.ObjectGone{}), store.Shares(state.ObjectsLost{})...),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "what is gone is applied again once",
	}
}

// scope is one kind in one namespace, or in the whole cluster for kinds without namespaces: the objects that carry hone's
// labels, or all of them where a command of the user applied one.
type scope struct {
	apiVersion, kind, namespace string
	all                         bool
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	events := make(chan k8s.ObjectEvent, 256)
	same := func(a, b struct{}) bool { return true }
	watches := task.NewSet(ctx, same, func(ctx context.Context, sc scope, _ struct{}) {
		req := k8s.WatchRequest{}
		if !sc.all {
			req.Selector = deploy.LabelManagedBy + "=" + deploy.ManagedByHone
		}
		if sc.namespace != "" {
			req.Namespaces = []string{sc.namespace}
		}
		_ = s.client.WatchObjects(ctx, sc.apiVersion, sc.kind, req, func(e k8s.ObjectEvent) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
	})
	defer watches.Stop()
	seen, told := map[string]model.ObjectStatus{}, map[string]model.ObjectStatus{}
	var owners map[string]owned
	take := func(e k8s.ObjectEvent) {
		switch {
		case e.Synced:
		case e.Deleted:
			delete(seen, e.Status.UID)
		default:
			seen[e.Status.UID] = e.Status
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			var scopes map[scope]struct{}
			owners, scopes = applied(rt.View())
			watches.Reconcile(scopes)
		case e := <-events:
			take(e)
			for more := true; more; {
				select {
				case e := <-events:
					take(e)
				default:
					more = false
				}
			}
		}
		rt.Dispatch(difference(owners, seen, told)...)
		rt.Succeeded()
	}
}

// owned is an object that a resource applied.
type owned struct {
	resource model.ManifestName
	// status says that its health is told, stays that it is missed when it goes.
	status, stays bool
}

// stays reports whether an object is there until its resource goes, so that one which vanishes has to come back. Others end by
// themselves (a Job with a time to live, a bare pod), or are for their own controllers or commands to delete.
func stays(a model.AppliedObject) bool {
	if a.Foreign {
		return false
	}
	switch a.Group {
	case "":
		return a.Kind == "ConfigMap" || a.Kind == "Service" || a.Kind == "PersistentVolumeClaim" || a.Kind == "ReplicationController"
	case "apps":
		return a.Kind != "ControllerRevision"
	}
	return false
}

// applied returns the objects to follow, by UID, and what has to be watched for them.
func applied(v store.View) (map[string]owned, map[scope]struct{}) {
	owners, scopes := map[string]owned{}, map[scope]struct{}{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			o := owned{model.ManifestName(e.ID), buildcontrol.HasStatus(a.ObjectID), stays(a)}
			if o.status || o.stays {
				owners[a.UID] = o
				scopes[scope{a.APIVersion, a.Kind, a.Namespace, a.Foreign}] = struct{}{}
			}
		}
	}
	return owners, scopes
}

// difference returns what has changed since it was told. Told has every object of a resource's that was seen.
func difference(owners map[string]owned, seen, told map[string]model.ObjectStatus) []store.Action {
	var changed []model.ObjectStatus
	var out []store.Action
	lost := map[model.ManifestName][]string{}
	for uid, o := range seen {
		owner, mine := owners[uid]
		o.Resource = owner.resource
		if was, ok := told[uid]; mine && (!ok || was != o) {
			told[uid] = o
			if owner.status {
				changed = append(changed, o)
			}
		}
	}
	for uid, o := range told {
		_, there := seen[uid]
		owner, mine := owners[uid]
		if there && mine {
			continue
		}
		delete(told, uid)
		if buildcontrol.HasStatus(o.ObjectID) {
			out = append(out, state.ObjectGone{UID: uid})
		}
		if !there && owner.stays {
			lost[owner.resource] = append(lost[owner.resource], uid)
		}
	}
	if len(changed) > 0 {
		out = append(out, state.ObjectsChanged{Objects: changed})
	}
	if len(lost) > 0 {
		out = append(out, state.ObjectsLost{UIDs: lost})
	}
	return out
}
