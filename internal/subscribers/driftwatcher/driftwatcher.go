// Package driftwatcher follows the changes that others make to the objects that resources applied: which fields differ in the
// cluster from their last applied values, who changed them and when, and which objects were deleted or made again. Deleted objects
// are applied again.
//
// It watches the metadata of the objects, which name the owners of fields, and reads an object only when the metadata have
// changed. It compares objects as hone drift does.
//
// # Concurrency
//
// Run owns one goroutine per kind and namespace of applied objects, and one for each resource that is being compared, at most
// atOnce of them. All of them have ended when it returns.
package driftwatcher

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/clusterwatch"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Client is the part of a cluster that is needed here.
type Client interface {
	WatchMetadata(ctx context.Context, apiVersion, kind, manager string, req k8s.WatchRequest, fn func(k8s.MetadataEvent)) error
}

// Comparer compares objects of a resource in a cluster, named as in model.K8sTarget, with their last applied state, and leaves fields to
// others, as buildanddeploy.Clusters do.
type Comparer interface {
	Differences(ctx context.Context, cluster string, resource model.ManifestName, objects []model.ObjectID) ([]api.PlanStep, error)
	Accept(ctx context.Context, cluster string, resource model.ManifestName, fields map[model.ObjectID][]string) (map[model.ObjectID][]string, error)
}

// Subscriber is the DriftWatcher.
type Subscriber struct {
	client   Client
	comparer Comparer
	logs     *logstore.Store
}

// New returns the subscriber; without a client or a comparer it does nothing.
func New(client Client, comparer Comparer, logs *logstore.Store) *Subscriber {
	return &Subscriber{client, comparer, logs}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "DriftWatcher",
		Doc:       "Follows what others change, delete or make again of what resources applied, and has deleted objects applied again.",
		Inputs:    store.Reads(state.Updates, state.Drifts, state.Objects),
		Outputs:   append(store.Emits(state.ResourceDrifted{}, state.DriftAcceptanceEnded{}), store.Shares(state.ClusterWatchFailed{}, state.ClusterWatchMended{})...),
		Externals: []string{"kubernetes"},
		Stage:     store.StageWatch,
		Feedback:  "it reads what the user has accepted, and reports once that it has been recorded; what was deleted is applied again a few times in a minute",
	}
}

// scope is one kind in one namespace, or in the whole cluster for kinds without namespaces: the objects that carry hone's labels, or all
// of them if hone did not make one.
type scope struct {
	cluster, apiVersion, kind, namespace string
	all                                  bool
}

// String names the watch.
func (sc scope) String() string {
	labels := deploy.LabelManagedBy
	if sc.all {
		labels = ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s/%s metadata %s %s", sc.apiVersion, sc.kind, sc.namespace, labels)) + clusterwatch.In(sc.cluster)
}

// Run implements store.Subscriber.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	if s.client == nil || s.comparer == nil {
		<-ctx.Done()
		return nil
	}
	b := newTracker(ctx, s.comparer, s.logs)
	defer b.checks.Wait()
	return clusterwatch.Run(ctx, rt, clusterwatch.Watches[scope, k8s.MetadataEvent]{ID: scope.String, Watch: s.watch, Wake: b.wake}, b)
}

func (s *Subscriber) watch(ctx context.Context, sc scope, trouble func(error), event func(k8s.MetadataEvent)) error {
	req := k8s.WatchRequest{Cluster: sc.cluster, OnTrouble: trouble}
	if !sc.all {
		req.Selector = deploy.ManagedSelector
	}
	if sc.namespace != "" {
		req.Namespaces = []string{sc.namespace}
	}
	return s.client.WatchMetadata(ctx, sc.apiVersion, sc.kind, deploy.FieldManager, req, event)
}
