// Package servicewatcher follows the Services that resources applied, for the addresses at which they can be reached.
package servicewatcher

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/clusterwatch"
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
	return clusterwatch.Run(ctx, rt, clusterwatch.Watches[scope, k8s.ServiceEvent]{ID: scope.String, Watch: s.watch},
		&follower{seen: map[string]model.Service{}, told: map[string]model.Service{}})
}

func (s *Subscriber) watch(ctx context.Context, sc scope, trouble func(error), event func(k8s.ServiceEvent)) error {
	req := k8s.WatchRequest{Cluster: sc.cluster, Namespaces: []string{sc.namespace}, OnTrouble: trouble}
	if !sc.all {
		req.Selector = deploy.ManagedSelector
	}
	return s.client.WatchServices(ctx, req, event)
}

// scope is the scope of a watch in a namespace: the Services that carry hone's labels, or all of them if a command of the
// user applied one.
type scope struct {
	cluster   string
	namespace string
	all       bool
}

// String names the watch.
func (sc scope) String() string {
	if sc.all {
		return "services " + sc.namespace + clusterwatch.In(sc.cluster)
	}
	return "services " + sc.namespace + " " + deploy.LabelManagedBy + clusterwatch.In(sc.cluster)
}

// follower holds the state of Services, by UID: the resources that applied them, their newest state, and the state that
// was dispatched last.
type follower struct {
	owners     map[string]model.ManifestName
	seen, told map[string]model.Service
}

// Wanted implements clusterwatch.Follower.
func (f *follower) Wanted(v store.View) (users map[scope][]model.ManifestName) {
	f.owners, users = applied(v)
	return users
}

// Take implements clusterwatch.Follower.
func (f *follower) Take(_ scope, e k8s.ServiceEvent) bool {
	switch {
	case e.Synced:
		return false
	case e.Deleted:
		delete(f.seen, e.Service.UID)
	default:
		f.seen[e.Service.UID] = e.Service
	}
	return true
}

// Changes implements clusterwatch.Follower.
func (f *follower) Changes(context.Context, store.View) ([]store.Action, time.Duration) {
	return difference(f.owners, f.seen, f.told), 0
}

// applied returns the Services that resources applied, by UID, and the scopes to watch, with their resources.
func applied(v store.View) (map[string]model.ManifestName, map[scope][]model.ManifestName) {
	owners, scopes := map[string]model.ManifestName{}, map[scope][]model.ManifestName{}
	for e := range state.Updates.In(v).Refs() {
		for _, a := range e.Value.Applied {
			if a.Kind == "Service" && a.Group == "" {
				owners[a.UID] = model.ManifestName(e.ID)
				sc := scope{a.Cluster, a.Namespace, a.Foreign}
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
