// Package deploydiscovery follows the objects that resources applied, for their health: whether a rollout is complete, a
// volume bound, a job complete, a custom resource ready. How an object ended that runs to an end stays known after its removal.
package deploydiscovery

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/clusterwatch"
)

// Client is the part of a cluster that is needed here.
type Client interface {
	WatchObjects(ctx context.Context, apiVersion, kind string, req k8s.WatchRequest, fn func(k8s.ObjectEvent)) error
}

// Subscriber is the DeployDiscovery. Run owns one goroutine per kind and namespace of applied objects that have a status.
type Subscriber struct{ client Client }

// New returns the subscriber; a nil client watches nothing.
func New(client Client) *Subscriber { return &Subscriber{client: client} }

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "DeployDiscovery",
		Doc:       "Follows the health of the objects that resources applied.",
		Inputs:    store.Reads(state.Tiltfiles, state.Clusters, state.Resources, state.Updates),
		Outputs:   append(store.Emits(state.ObjectsChanged{}, state.ObjectGone{}), store.Shares(state.ClusterWatchFailed{}, state.ClusterWatchMended{})...),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
	}
}

// scope is one kind in one namespace, or in the whole cluster for kinds without namespaces: the objects that carry hone's
// labels, all of them if a command of the user applied one, or the one object called name.
type scope struct {
	cluster, apiVersion, kind, namespace string
	all                                  bool
	name                                 string
}

// labelled reports whether an object leaves the scope when it loses hone's label, as if it were deleted.
func (sc scope) labelled() bool { return !sc.all && sc.name == "" }

// alone returns the scope that holds nothing but the object of this name, whatever its labels are.
func (sc scope) alone(name string) scope {
	sc.name = name
	return sc
}

// String names the watch.
func (sc scope) String() string {
	which := sc.name
	if sc.labelled() {
		which = deploy.LabelManagedBy
	}
	return strings.TrimSpace(fmt.Sprintf("%s/%s %s %s", sc.apiVersion, sc.kind, sc.namespace, which)) + clusterwatch.In(sc.cluster)
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil {
		<-ctx.Done()
		return nil
	}
	return clusterwatch.Run(ctx, rt, clusterwatch.Watches[scope, k8s.ObjectEvent]{ID: scope.String, Blinds: true, Watch: s.watch}, newTracker())
}

func (s *Subscriber) watch(ctx context.Context, sc scope, trouble func(error), event func(k8s.ObjectEvent)) error {
	req := k8s.WatchRequest{Cluster: sc.cluster, OnTrouble: trouble, Name: sc.name}
	if sc.labelled() {
		req.Selector = deploy.ManagedSelector
	}
	if sc.namespace != "" {
		req.Namespaces = []string{sc.namespace}
	}
	return s.client.WatchObjects(ctx, sc.apiVersion, sc.kind, req, event)
}
