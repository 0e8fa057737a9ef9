// Package servicewatcher follows the Services that resources applied, for the addresses at which they can be reached.
package servicewatcher

import (
	"context"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/workers"
	"github.com/hone-dev/hone/pkg/model"
)

// Client is the part of a cluster that is needed here.
type Client interface {
	WatchServices(ctx context.Context, req k8s.WatchRequest, fn func(k8s.ServiceEvent)) error
}

// Subscriber is the ServiceWatcher. Run owns one goroutine per namespace that holds one of the session's Services.
type Subscriber struct{ client Client }

// New returns the subscriber; a nil client watches nothing.
func New(client Client) *Subscriber { return &Subscriber{client: client} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:   "ServiceWatcher",
		Doc:    "Follows the Services that resources applied, for the addresses at which they can be reached.",
		Inputs: store.Reads(state.Updates),
		Outputs: append(store.Emits(state.ServiceChanged{}, state.ServiceGone{}),
			store.Shares(state.ClusterWatchFailed{}, state.ClusterWatchMended{})...),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
	}
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	events, troubles := make(chan k8s.ServiceEvent, 64), make(chan trouble)
	same := func(a, b struct{}) bool { return true }
	watches := workers.NewSet(ctx, same, func(ctx context.Context, sc scope, _ struct{}) {
		req := k8s.WatchRequest{Namespaces: []string{sc.namespace}, OnTrouble: func(err error) {
			select {
			case troubles <- trouble{sc, err}:
			case <-ctx.Done():
			}
		}}
		if !sc.all {
			req.Selector = deploy.LabelManagedBy + "=" + deploy.ManagedByHone
		}
		_ = s.client.WatchServices(ctx, req, func(e k8s.ServiceEvent) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
	})
	defer watches.Stop()
	seen, told := map[string]model.Service{}, map[string]model.Service{}
	var owners map[string]model.ManifestName
	var users map[scope][]model.ManifestName
	failing := state.WatchTroubles[scope]{ID: scope.String}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rt.Wake():
			owners, users = applied(rt.View())
			watches.Reconcile(workers.Keys(users))
		case t := <-troubles:
			failing.Take(t.scope, t.err)
		case e := <-events:
			switch {
			case e.Synced:
			case e.Deleted:
				delete(seen, e.Service.UID)
			default:
				seen[e.Service.UID] = e.Service
			}
		}
		rt.Dispatch(append(difference(owners, seen, told), failing.Changes(users)...)...)
		rt.Succeeded()
	}
}

// scope is what is watched in a namespace: the Services that carry hone's labels, or all of them where a command of the user
// applied one.
type scope struct {
	namespace string
	all       bool
}

// String names the watch.
func (sc scope) String() string {
	if sc.all {
		return "services " + sc.namespace
	}
	return "services " + sc.namespace + " " + deploy.LabelManagedBy
}

// trouble is why a watch does not work, nil for one that works again.
type trouble struct {
	scope scope
	err   error
}

// applied returns the Services that resources applied, by UID, and what has to be watched, for which resources.
func applied(v store.View) (map[string]model.ManifestName, map[scope][]model.ManifestName) {
	owners, scopes := map[string]model.ManifestName{}, map[scope][]model.ManifestName{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			if a.Kind == "Service" && a.Group == "" {
				owners[a.UID] = model.ManifestName(e.ID)
				sc := scope{a.Namespace, a.Foreign}
				scopes[sc] = append(scopes[sc], model.ManifestName(e.ID))
			}
		}
	}
	return owners, scopes
}

func difference(owners map[string]model.ManifestName, seen, told map[string]model.Service) []store.Action {
	var out []store.Action
	for uid, svc := range seen {
		name, mine := owners[uid]
		svc.Resource = name
		if was, ok := told[uid]; mine && (!ok || was != svc) {
			told[uid] = svc
			out = append(out, state.ServiceChanged{Service: svc})
		}
	}
	for uid := range told {
		_, there := seen[uid]
		if _, mine := owners[uid]; !there || !mine {
			delete(told, uid)
			out = append(out, state.ServiceGone{UID: uid})
		}
	}
	return out
}
