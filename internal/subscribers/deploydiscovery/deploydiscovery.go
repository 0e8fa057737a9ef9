// Package deploydiscovery follows the objects that resources applied, for their health: whether a rollout is through, a
// volume bound, a job complete, a custom resource ready.
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

// Subscriber is DeployDiscovery. Run owns one goroutine per kind and namespace of applied objects that have a status.
type Subscriber struct{ client Client }

// New returns the subscriber; a nil client watches nothing.
func New(client Client) *Subscriber { return &Subscriber{client: client} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "DeployDiscovery",
		Doc:       "Follows the objects that resources applied, for their health.",
		Inputs:    store.Reads(state.Updates),
		Outputs:   store.Emits(state.ObjectsChanged{}, state.ObjectGone{}),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
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
	var owners map[string]model.ManifestName
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

// applied returns the objects with a status that resources applied, by UID, and what has to be watched for them.
func applied(v store.View) (map[string]model.ManifestName, map[scope]struct{}) {
	owners, scopes := map[string]model.ManifestName{}, map[scope]struct{}{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			if buildcontrol.HasStatus(a.ObjectID) {
				owners[a.UID] = model.ManifestName(e.ID)
				scopes[scope{a.APIVersion, a.Kind, a.Namespace, a.Foreign}] = struct{}{}
			}
		}
	}
	return owners, scopes
}

func difference(owners map[string]model.ManifestName, seen, told map[string]model.ObjectStatus) []store.Action {
	var changed []model.ObjectStatus
	var out []store.Action
	for uid, o := range seen {
		name, mine := owners[uid]
		o.Resource = name
		if was, ok := told[uid]; mine && (!ok || was != o) {
			told[uid] = o
			changed = append(changed, o)
		}
	}
	for uid := range told {
		_, there := seen[uid]
		if _, mine := owners[uid]; !there || !mine {
			delete(told, uid)
			out = append(out, state.ObjectGone{UID: uid})
		}
	}
	if len(changed) > 0 {
		out = append(out, state.ObjectsChanged{Objects: changed})
	}
	return out
}
