// Package buildanddeploy brings one resource up to date: in place where that is possible, otherwise with a new image,
// through a chain of builders that fall back from one to the next. It does not depend on the store.
package buildanddeploy

import (
	"context"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// How an update runs. The BuildController makes one Request for each update (buildcontroller.Asked and request), and calls
// Composite.BuildAndDeploy with it on a goroutine of its own. Composite passes the request to one builder after the other, and adds
// only the containers that the earlier ones have touched (Overlaid). A builder that needs other values, for example Image for
// Synclet, changes its own copy. They read these fields:
//
//	Mode, Manifest, InPlaceOnly                    Composite, to choose the builders
//	InPlace, Containers … Addition, Ignores,       InPlace: the containers, and the files that they lack
//	  without Overlaid
//	Force, Overlaid                                Cluster and Compose: which unchanged objects to apply (again.go)
//	Force, Reuse, Recall, NoCache, Results, Dirty  Image and Compose: which images to build
//	BuildOnly                                      Image: whether that is all
//	Cluster, Registry, Namespace … Reclaim,        Image and Cluster: where images and objects go,
//	  Declared … CollectLimit, Synclet             and which leftovers a deploy deletes
//	Env, Settled                                   the commands of the user
//
// The functions lead back into the loop, and none of them changes the request. Declared, Chosen, AtRest and Addition read the
// newest snapshot, so that an update which takes long decides by the present; Absorb is only called by InPlace, on the goroutine
// of the update. Save reads the snapshot in which the update began. Commit and Progress report to the BuildController. Changed is a
// channel with room for one token, which the BuildController sends when files have changed.

// BuildAndDeployer updates a resource in one way.
type BuildAndDeployer interface {
	// Name is the update mode that it implements: "synclet", "container", "exec", "image", "local", "compose".
	Name() string
	// BuildAndDeploy does the update. The result is valid even with an error: it holds everything that was done until then. A
	// *Declined error means that the request is not for this builder; for other errors see ShouldFallBack.
	BuildAndDeploy(ctx context.Context, req Request) (Result, error)
}

// Request is one update of one resource, with everything that is known about it.
type Request struct {
	Manifest model.Manifest
	Mode     model.UpdateMode
	// StartedAt is the time at which the update began: earlier changes are part of it.
	StartedAt time.Time
	// InPlace means that only changed files require the update, so that it may be made in the containers.
	InPlace bool
	// Containers are the running containers that lack changes. Absent is the reason why there are none, if they have crashed.
	Containers []model.LackingContainer
	Absent     string
	// Peers is, by image, the number of other running containers that already have the changes; they must not end up
	// differing from these.
	Peers map[string]int
	// Others means that other running containers of the resource need nothing now, so that the next save can go to them
	// whatever happens to these.
	Others bool
	// Overlaid are the containers that have files of updates in place, but not all of the newest ones. If a deploy leaves their pod
	// as it is, they have to be replaced, even if their image is the same.
	Overlaid []model.ContainerRef
	// Lacking are the containers that a selector of a custom deploy chooses, and that lack changed files, whether or not these may be
	// copied now; Files are those that the command cannot have brought. FellBack is why the last attempt has failed, in this update or before.
	Lacking  []model.LackingContainer
	FellBack string
	// Applied are the objects of the last deploy.
	Applied []model.AppliedObject
	// Waits means that the update waits for every container, however long it takes.
	Waits bool
	// Save, unless nil, returns the time at which the newest of some files was saved, and the time at which hone noticed it; zero
	// times if they are not known.
	Save func(files []string) (made, known time.Time)
	// Changed, unless nil, is signalled when files have changed that the update may take in; Absorb then returns them, or nil if
	// there are none after all. Both are for updates in place: an update that waits for a distant container takes in files that are
	// saved meanwhile.
	Changed <-chan struct{}
	Absorb  func(since time.Time) *AbsorbedChanges
	// Force applies objects again and replaces their pods even if nothing changed: by a restart of the rollout where there is one.
	Force bool
	// Reuse takes the known image of the same inputs even where a command may depend on more than it declares.
	Reuse bool
	// Recall takes the image that an earlier session has built, for one without a result, if its containers can get in place the files that it lacks.
	Recall bool
	// NoCache builds images without a cache, even those that have not changed.
	NoCache bool
	// Results are the images in use, by reference; Dirty names the images whose files changed since.
	Results map[string]model.ImageResult
	Dirty   map[string]bool
	// BuildOnly ends the update when its images are built and delivered. An image of an earlier session that lacks files stays where it is.
	BuildOnly bool
	Cluster   model.Cluster
	// Registry is the Tiltfile's default_registry, Cache its image_cache, Builder its builder.
	Registry      model.Registry
	Cache         model.ImageCache
	Builder       model.Builder
	Namespace     string
	UpsertTimeout time.Duration
	// Adopt lets the deploy take over objects that hone did not create.
	Adopt bool
	// InPlaceOnly is set if any other update waits for the user: a change that cannot be made in place fails, and waits.
	InPlaceOnly bool
	// Restoring is set if the update undoes the changes of others, which is no warning then, and Reclaim if the user asks for it, so
	// that labels which others have removed come back, too.
	Restoring, Reclaim bool
	// Declared returns the manifests that the Tiltfile declares now, possibly more than when the update began; nil means no others.
	Declared func() []model.Manifest
	// Chosen reports whether the session works on a resource; nil means all.
	Chosen func(model.ManifestName) bool
	// AtRest, unless nil, reports whether the declarations are final. Otherwise leftovers stay, recorded as leaving.
	AtRest func() bool
	// CollectLimit is the time to wait until leftovers are gone; zero means not to wait.
	CollectLimit time.Duration
	// Env is added to the environment of local commands.
	Env []string
	// Synclet, unless nil, is the injection for the pods of the deploy.
	Synclet *deploy.SyncletInjection
	// Ignores leave files out of live updates.
	Ignores []model.Ignore
	// Settled, unless nil, waits until all file changes made so far are known, but not longer than its context lasts.
	Settled func(context.Context)
	// Test is set for the run of a test.
	Test *TestRun
	Log  logstore.Logger
	// Commit is called right before the update changes something that another update would have to change back: from
	// then on the update should run until it ends. It does not block.
	Commit func()
	// Progress receives the mode, a description of the current step for people, and the progress of the step. It is called whenever
	// one of them changes, also concurrently, and does not block.
	Progress func(mode, stage string, at model.BuildProgress)
}

// fromScratch reports whether all images are built, and without a cache.
func (r Request) fromScratch() bool { return r.NoCache || r.Mode == model.UpdateNaive }

// mayLack returns which changed files the last image of a target may lack: those that its containers can get in place. Nil means that it
// is not taken.
func (r Request) mayLack(t model.ImageTarget) func(files []string) bool {
	_, have := r.Results[t.Ref]
	asked := r.Force || r.fromScratch()
	if asked || have || !r.Recall {
		return nil
	}
	return func(files []string) bool {
		return len(files) == 0 || r.Mode.InPlace() && t.LiveUpdate.MostEffort(slices.Values(files)) < model.EffortImage
	}
}

// AbsorbedChanges are files that have changed since an update began, and that its containers can take by copies alone.
type AbsorbedChanges struct {
	// Until is the time up to which changes are part of it.
	Until time.Time
	// Containers are the containers of the request that lack files, with only these files.
	Containers []model.LackingContainer
	// Files are all the files, relative to the Tiltfile where they lie below it.
	Files []string
	// Save is like Request.Save.
	Save func(files []string) (made, known time.Time)
	// Taken is called when the update takes them in.
	Taken func()
}

// Result is the result of an update.
type Result struct {
	// Mode is the Name of the builder that did it.
	Mode string
	// Steps are the steps that were carried out, unless it was done in place; the last one may have failed.
	Steps       []model.BuildStep
	LayersAhead []model.LayersAhead
	// Images are the images that were built, by reference.
	Images map[string]model.ImageResult
	// Deployed means that objects were applied, or that a local command has succeeded.
	Deployed bool
	Applied  []model.AppliedObject
	// Verdict is the result of a test that has ended; nil without one.
	Verdict *model.Verdict
	// Copies means that containers get changed files in place, even if the deploy has brought them, and Left that a command has left a
	// workload as it was, so that it has not.
	Copies, Left bool
	// Synced are the ids of containers that now have all changes.
	Synced []string
	// Containers are the updates of all containers, including the containers that are left behind.
	Containers []model.ContainerUpdate
	// Behind are the lanes of containers that take much longer than the others. They go on, and the caller has to wait for each; they
	// end when the context of the update does.
	Behind []*Lane
	// Touched are the ids of the containers in which files may have been changed, even if the update has failed.
	Touched []string
	// FellBack is the reason why a faster builder was not enough.
	FellBack string
	// Until is the time up to which changes are part of the update, if it has taken in more files than it began with, and Added are
	// these files.
	Until time.Time
	Added []string
}

// Declined means that a builder does not handle a request. Reason is empty if that needs no explanation.
type Declined struct{ Reason string }

// Error returns the reason.
func (d *Declined) Error() string {
	if d.Reason == "" {
		return "not for this builder"
	}
	return d.Reason
}

var _ error = (*Declined)(nil)
