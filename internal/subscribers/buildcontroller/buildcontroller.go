// Package buildcontroller runs the updates that buildcontrol decides on, several at a time.
//
// # Concurrency
//
// Run owns one goroutine per running build, and after the build one for each container in which it still runs. It cancels a
// build whose resource is gone, and a build that a newer change has overtaken before it touched the cluster. It waits for
// all of them before it returns.
package buildcontroller

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
	"github.com/hone-dev/hone/pkg/model"
)

// maxReplaced is the number of times in a row that newer changes may overtake a build before it is left to finish, so that a user
// who saves without a pause still gets results.
const maxReplaced = 3

// ciCollectLimit bounds the wait of a session that ends on its own for the leftovers of a deploy to vanish.
const ciCollectLimit = 5 * time.Minute

// stopGrace leaves a local command the time to end on its own, or to be killed.
const stopGrace = 15 * time.Second

const name = "BuildController"

// Options apply to every build.
type Options struct {
	Namespace string
	// Env is added to the environment of local commands.
	Env []string
	// Adopt lets deploys take over objects that others made.
	Adopt bool
	// Reuse takes the known image of the same inputs even where a command may depend on more than it declares.
	Reuse bool
	// Recall takes images that an earlier session has built; see buildanddeploy.Request.
	Recall bool
	// Cluster, unless nil, is prepared before the first deploys, and hears of each evaluation of the Tiltfile before the deploys of that.
	Cluster Preparer
	// Bases, unless nil, fetches the bases of the images of updates that wait.
	Bases Bases
	// Settled, unless nil, waits for changes of files on their way to the store; see buildanddeploy.Request.
	Settled func(context.Context)
}

// Preparer knows the deployed objects, and reads the cluster's objects of many resources at once, so that deploying unchanged resources costs nothing.
type Preparer interface {
	// Declare begins the deployment of an evaluation of the Tiltfile, which has read some files.
	Declare(manifests []model.Manifest, read map[string]uint64)
	// Prepare prepares one cluster, named as in model.K8sTarget.
	Prepare(ctx context.Context, on string, manifests []model.Manifest, namespace string) error
}

// Bases fetches the bases that an image needs and the engine lacks. It bounds the number of fetches at a time, and fetches none twice.
type Bases interface {
	Fetch(ctx context.Context, target model.ImageTarget, platform string)
}

// Subscriber is the BuildController.
type Subscriber struct {
	builder buildanddeploy.BuildAndDeployer
	logs    *logstore.Store
	options Options
	now     func() time.Time
}

// New returns the subscriber.
func New(builder buildanddeploy.BuildAndDeployer, logs *logstore.Store, o Options) *Subscriber {
	return &Subscriber{builder: builder, logs: logs, options: o, now: time.Now}
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	inputs := buildcontrol.Tables()
	for i, in := range inputs {
		inputs[i].Strong = in.Table == state.Resources.Name()
	}
	return store.Contract{
		Name:   name,
		Doc:    "Runs the updates that are due, in parallel up to the limit, and cancels those that were overtaken.",
		Inputs: inputs,
		Outputs: store.Emits(state.BuildStarted{}, state.BuildProgressed{}, state.BuildCompleted{}, state.LaneEnded{},
			state.HoldsChanged{}, state.RetryDue{}, state.RoundDue{}, state.StartOverdue{}),
		Calls: []store.Call{
			{To: "WatchManager", Doc: "Before it reads files, it waits until all changes made so far are known, which is an event and not a state."},
			{To: "SyncletManager", Doc: "Updates in place use the conversations that it keeps open, and their knowledge of images and processes."},
		},
		Externals: []string{"docker", "kubernetes", "process"},
		Stage:     store.StageController,
		Grace:     stopGrace,
		Feedback:  "a completed build includes the changes that requested it",
	}
}
