// Package buildanddeploy brings one resource up to date: in place where that is possible, else with a new image, through
// a chain of builders that fall back from one to the next. It knows nothing of the store.
package buildanddeploy

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/pkg/model"
)

// BuildAndDeployer updates a resource in one way.
type BuildAndDeployer interface {
	// Name is the mode that it stands for: "synclet", "container", "exec", "image", "local", "compose".
	Name() string
	// BuildAndDeploy does the update. The result counts also when there is an error: it holds what was done until then.
	// A *Declined error says that the request is not for this way; for other errors see ShouldFallBack.
	BuildAndDeploy(ctx context.Context, req Request) (Result, error)
}

// Request is one update of one resource, with all that is known about it.
type Request struct {
	Manifest model.Manifest
	Mode     model.UpdateMode
	// StartedAt is when the update began: changes up to then are part of it.
	StartedAt time.Time
	// InPlace says that nothing but changed files asks for the update, so that it may be made in the containers.
	InPlace bool
	// Containers are the running containers that lack changes.
	Containers []model.LackingContainer
	// Peers says, by image, in how many other containers that run what these lack has been done already; they must not end
	// up differing from these.
	Peers map[string]int
	// Others says that containers of the resource run that need nothing now, so that the next save can go to them whatever
	// becomes of these.
	Others bool
	// Waits says that the update is to wait for every container, however long it takes.
	Waits bool
	// Save, where there is one, says when the newest of some files was saved, and when hone knew of it; zero times where
	// that is not known.
	Save func(files []string) (made, known time.Time)
	// Force applies objects again and restarts their pods though nothing changed.
	Force bool
	// Results are the images in use, by reference; Dirty names the images whose files changed since.
	Results map[string]model.ImageResult
	Dirty   map[string]bool
	Cluster model.Cluster
	// Registry is the Tiltfile's default_registry.
	Registry      model.Registry
	Namespace     string
	Project       string
	RunID         string
	UpsertTimeout time.Duration
	// Adopt lets the deploy take over objects that others made.
	Adopt bool
	// Declared returns what the Tiltfile declares now, which may be more than when the update began; nil: nothing else.
	Declared func() []model.Manifest
	// CollectLimit is for how long to wait until what is left over is gone; zero means not to wait.
	CollectLimit time.Duration
	// Env is added to the environment of local commands.
	Env []string
	// Synclet, unless nil, is what to put into the pods of the deploy.
	Synclet *deploy.SyncletInjection
	// Ignores leave files out of live updates.
	Ignores []model.Ignore
	// Settled, where there is one, waits until the changes that were made to files so far are known, but not longer than
	// its context lasts.
	Settled func(context.Context)
	Log     logstore.Logger
	// Commit is called right before the update changes something that another update would have to change back: from then
	// on it should run to its end. It does not block.
	Commit func()
	// Progress is told what is being done, in words for people, and in which mode. It does not block.
	Progress func(mode, stage string)
}

// Result is what an update has done.
type Result struct {
	// Mode is the Name of the builder that did it.
	Mode string
	// Images are the images that were built, by reference.
	Images map[string]model.ImageResult
	// Deployed says that objects were applied, or a local command has run to its end.
	Deployed bool
	Applied  []model.AppliedObject
	// Synced are the ids of containers that now have all changes.
	Synced []string
	// Containers are what was done in each container, those included that are left behind.
	Containers []model.ContainerUpdate
	// Behind are the updates of containers that take much longer than the others. They keep running, and whoever gets the result
	// has to wait for each; they end when the context of the update does.
	Behind []*Straggler
	// FellBack is why a faster way was not enough.
	FellBack string
}

// Declined says that a builder is not the one for a request. Reason is empty where that needs no explanation.
type Declined struct{ Reason string }

// Error returns the reason.
func (d *Declined) Error() string {
	if d.Reason == "" {
		return "not for this builder"
	}
	return d.Reason
}

var _ error = (*Declined)(nil)
