package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// keptBuilds is the number of past builds of a resource that the table keeps.
const keptBuilds = 20

// History holds the running build, past builds, and their results.
type History struct {
	// Serial numbers the builds of the resource.
	Serial int
	// Current is the build that runs, nil between builds. Builds are the past ones, newest first.
	Current *Build
	Builds  []Build
	// Past are the builds of earlier sessions, newest first. They only inform people: nothing is decided by them.
	Past []Build
	// BuiltAhead is the time up to which changes are part of the newest build that only builds images, whatever its result; zero without one.
	BuiltAhead time.Time
	// AttemptedAt is the time up to which changes are part of the newest build: they no longer request one.
	AttemptedAt time.Time
	// Succeeded is set after the first successful build; SucceededSerial is the newest one.
	Succeeded       bool
	SucceededSerial int
	// WasReady is set once the resource has been up to date with its runtime ready: resources that depend on it may start.
	WasReady bool
	// FirstBegan is the start of the first build since the resource was declared or enabled, and FirstReady the time at which
	// WasReady was set.
	FirstBegan, FirstReady time.Time
	Circle
	// Waits are the times from the newest saves until they ran, oldest first.
	Waits []Wait
}

// Updated reports whether an update of any resource has begun.
func Updated(v store.View) bool {
	for e := range Updates.In(v).Refs() {
		if e.Value.Serial > 0 {
			return true
		}
	}
	return false
}

// Build is one update of a resource.
type Build struct {
	Serial int
	Reason BuildReason
	// By is the name of the token with which it was requested; empty for the owner, and for a build that nobody has requested. ConfirmedBy
	// is the name of the one with which it was confirmed.
	By, ConfirmedBy string
	// Files are the changed files that it includes, relative to the Tiltfile where they lie below it.
	Files []string
	// Part is set if it only copies files that need no other step into containers, while the rest of the update waits.
	Part bool
	// Slot is set if it takes one of the slots for builds, as long as it builds.
	Slot bool
	// BuildOnly is set if it builds images, and deploys nothing, while the resource waits for others.
	BuildOnly bool
	// ahead are the files that a part copies in a version that waits: see BuildStarted.
	ahead []string
	// Basis are the revisions that a test judges; nil for other builds.
	Basis Basis
	// Verdict is the result of a test; nil without one.
	Verdict *model.Verdict
	// from is the declaration that it began with.
	from *model.Manifest
	// Mode is the way of the update: "image", "container", "exec", "local", "deploy"; empty until that is known.
	Mode string
	// Containers describes the update of each container, for updates in place.
	Containers []model.ContainerUpdate
	// Steps are the steps of a build that is not in place, as far as they were carried out; the last one of a failed build is
	// the one that failed. While the build runs, they are those before the current one, and the transfer of a build context
	// counts as a part of the step that builds the image.
	Steps []model.BuildStep
	// LayersAhead are the transfers of layers beside the steps.
	LayersAhead []model.LayersAhead
	// Stage is its current step, for people.
	Stage string
	// Progress is the progress of the current step.
	Progress model.BuildProgress
	// StepAt is the start of the current step; zero between builds, and while there is no step.
	StepAt     time.Time
	StartedAt  time.Time
	FinishedAt time.Time
	// Until is the time up to which changes are part of it: StartedAt, or later if it has taken in files that were saved meanwhile.
	Until time.Time
	// Saved is the time at which the newest of its files was saved, or at which the user let it run; zero if that is unknown.
	Saved time.Time
	// ReadyAt is the time at which everything that it deployed was ready for the first time; zero if that has not happened, if
	// another build has deployed something since, or if nothing was deployed.
	ReadyAt time.Time
	// Deployed is set when it applied the objects, or its local command has run.
	Deployed bool
	// Err is why it failed, empty when it did not. Cancelled builds have neither succeeded nor failed.
	Err       string
	Cancelled bool
	// Problem is Err in structured form; nil if unknown.
	Problem *Problem
	// Output are the last lines of a failed build's log before its error.
	Output   []string
	Warnings int
	// FellBack is why a faster mode was not enough.
	FellBack string
	Span     string
}

// Duration returns the time that the build took, or has taken up to the given time.
func (b Build) Duration(now time.Time) time.Duration {
	if b.FinishedAt.IsZero() {
		return now.Sub(b.StartedAt)
	}
	return b.FinishedAt.Sub(b.StartedAt)
}

// Activity returns the current step of a running build and its progress: "1/3 Building Dockerfile: [api], step 4 of 7". It is
// empty before the first step.
func (b Build) Activity() string {
	if far := b.Progress.String(); far != "" {
		return b.Stage + ", " + far
	}
	return b.Stage
}

// Because names the reasons for the build: "files changed, triggered by ci", "files changed, confirmed by ci".
func (b Build) Because() string {
	text := b.Reason.String()
	if b.By != "" {
		text = strings.Replace(text, triggered, triggered+" by "+b.By, 1)
	}
	if b.ConfirmedBy != "" {
		text += ", confirmed by " + b.ConfirmedBy
	}
	return text
}

// InPlace reports whether the build only updated running containers.
func (b Build) InPlace() bool {
	return b.Mode == "synclet" || b.Mode == "container" || b.Mode == "exec"
}

// BuildReason is the set of reasons for which a build begins.
type BuildReason uint16

// The reasons for a build.
const (
	ReasonInitial BuildReason = 1 << iota
	ReasonFiles
	ReasonConfig
	ReasonTrigger
	ReasonContainer // a container that lacks changes has appeared
	ReasonBehind    // a container that was behind can get the changes since then
	ReasonBroken    // updating in place failed in a container that was behind
	ReasonLost      // objects that it applied are gone from the cluster
	ReasonRetry     // the cause of a failed build may be gone
	ReasonRebuild   // the user wants everything from scratch, always with ReasonTrigger
	ReasonRestore   // the user wants its objects as they are declared
	ReasonKeep      // others have changed objects that are kept as they are declared
	ReasonTested    // the resources that a test is about have changed
	ReasonRegistry  // the images go to another registry, always with ReasonConfig
)

// Has reports whether r holds all of other.
func (r BuildReason) Has(other BuildReason) bool { return r&other == other }

// triggered names ReasonTrigger.
const triggered = "triggered"

// String names the reasons: "files changed, triggered".
func (r BuildReason) String() string {
	var words []string
	for i, w := range []string{"initial build", "files changed", "config changed", triggered, "container started", "container was behind",
		"update in place failed", "objects went missing", "trying again", "from scratch", "restoring", "changed by others", "tested resources changed", "registry changed"} {
		if r&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// BuildStarted reports that a build has begun. It includes every change up to At, the time of the snapshot on which it was
// decided, or up to Until for a part of an update.
type BuildStarted struct {
	Resource model.ManifestName
	Serial   int
	Reason   BuildReason
	Files    []string
	At       time.Time
	// Made is the time at which the newest of its files was changed; zero if that is unknown.
	Made time.Time
	// Until is only set for a part of an update: see Build.Part. Ahead are the files, absolute, that changed after Until: the part
	// copies their newest version, since the earlier one no longer exists.
	Until time.Time
	Ahead []string
	Span  string
	// Slot is set if it takes one of the slots for builds: see Build.Slot.
	Slot bool
	// BuildOnly is set if it builds images and deploys nothing.
	BuildOnly bool
	// Basis are the revisions that a test judges; nil for other builds.
	Basis Basis
	// Manifest is the declaration that it begins with; nil means the newest one.
	Manifest *model.Manifest `json:"-"`
}

// BuildProgressed reports the current step of a build.
type BuildProgressed struct {
	Resource model.ManifestName
	Serial   int
	Stage    string
	Mode     string
	Progress model.BuildProgress
}

// BuildCompleted reports that a build has ended.
type BuildCompleted struct {
	Resource model.ManifestName
	Serial   int
	At       time.Time
	Mode     string
	// Err is why it failed; Problem is Err in structured form, nil if unknown.
	Err     string
	Problem *Problem
	// Output are the last lines of a failed build's log before its error.
	Output []string
	// Cancelled builds leave their changes pending.
	Cancelled bool
	Warnings  int
	FellBack  string
	// Images are the results of the images that were built, even if the build failed later.
	Images map[string]model.ImageResult
	// Deployed is set when the objects were applied, as Applied, or the local command has run.
	Deployed bool
	Applied  []model.AppliedObject
	// Verdict is the result of a test; nil without one.
	Verdict *model.Verdict
	// Copies is set when files that can be copied stay due for each new container: nothing says whether the user's command has brought
	// them.
	Copies bool
	// Left is set when the command has left a workload as it was, so that it has not brought them.
	Left bool
	// Synced are the ids of the containers that were updated in place.
	Synced []string
	// Touched are the ids of the containers in which files may have been changed, whatever the result.
	Touched []string
	// Until is the time up to which changes are part of the build, if it has taken in more than it began with; Added are those files.
	Until time.Time
	Added []string
	// Steps are the steps of a build that is not in place.
	Steps       []model.BuildStep
	LayersAhead []model.LayersAhead
	// Containers describes the update of each container, for updates in place. Sending are the containers in which the
	// update is still running, by id; the reducer fills in Serial, Since and Until.
	Containers []model.ContainerUpdate
	Sending    map[string]Sending
	// Stuck are the ids of containers that could not be updated in place, and for which no other way exists.
	Stuck []string
	// InPlaceBroken is set when updating in place failed for a reason that is not the user's.
	InPlaceBroken string
	// ClusterErr is set when the update was aborted because the cluster did not answer, EngineErr when the container engine
	// did not.
	ClusterErr, EngineErr string
	// Cluster is the context of the cluster of its resource, as in model.K8sTarget.
	Cluster string
	// Passing is set when Err has an external cause that may soon be gone: the update is retried automatically.
	Passing bool
}

// ResourcesReady reports that resources are up to date and ready, each for the first time, or for the first time since a
// deploy.
type ResourcesReady struct{ Names []model.ManifestName }

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ResourcesReady) {
		for _, name := range a.Names {
			if u := d.Value(string(name)); u.ready(d.Now()) {
				d.Update(string(name), func(Update) Update { return u })
			}
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a BuildStarted) {
		d.Update(string(a.Resource), func(u Update) Update {
			u.round(d.Refs(), a)
			u.Current = u.begins(a)
			u.Serial = a.Serial
			if !u.Current.Part {
				u.TakenDown, u.RetryAt = "", time.Time{}
			}
			if u.FirstBegan.IsZero() {
				u.FirstBegan = a.At
			}
			return u
		})
	})
	store.On(Updates, func(d *store.Draft[Update], a BuildProgressed) {
		d.Update(string(a.Resource), func(u Update) Update {
			u.progressed(a, d.Now())
			return u
		})
	})
}

// begins returns the build that begins with an action.
func (u Update) begins(a BuildStarted) *Build {
	b := &Build{Serial: a.Serial, Reason: a.Reason, Files: a.Files, Part: !a.Until.IsZero(), Slot: a.Slot, BuildOnly: a.BuildOnly, Basis: a.Basis, ahead: a.Ahead, from: cmp.Or(a.Manifest, u.declared),
		StartedAt: a.At, Until: a.At, Span: a.Span}
	if b.Part {
		b.Until = a.Until
	}
	if a.Reason.Has(ReasonTrigger) {
		b.By = u.By
	}
	b.ConfirmedBy = u.ConfirmedBy
	if len(a.Files) > 0 {
		b.Saved = u.runsFrom(b.Until)
	}
	return b
}

// AwaitsReady reports whether the newest build that has deployed something has not been ready yet.
func (h History) AwaitsReady() bool {
	i := slices.IndexFunc(h.Builds, func(b Build) bool { return b.Deployed })
	return i >= 0 && h.Builds[i].ReadyAt.IsZero()
}

// ready records that the resource is up to date and ready, and reports whether that is new.
func (h *History) ready(now time.Time) (changed bool) {
	if changed, h.WasReady = !h.WasReady, true; changed {
		h.FirstReady = now
	}
	i := slices.IndexFunc(h.Builds, func(b Build) bool { return b.Deployed })
	if i >= 0 && h.Builds[i].ReadyAt.IsZero() {
		h.Builds = slices.Clone(h.Builds)
		h.Builds[i].ReadyAt, changed = now, true
		h.waitedUntil(h.Builds[i])
	}
	return changed
}

func (h *History) progressed(a BuildProgressed, now time.Time) {
	if h.Current == nil || h.Current.Serial != a.Serial {
		return
	}
	b := *h.Current
	b.stepped(a.Progress, now)
	b.Stage, b.Progress = a.Stage, a.Progress
	if a.Mode != "" {
		b.Mode = a.Mode
	}
	h.Current = &b
}

// stepped records the end of the current step if a running build is at another one.
func (b *Build) stepped(next model.BuildProgress, now time.Time) {
	was := b.Progress
	if was.Kind == next.Kind && was.Image == next.Image && was.Nth == next.Nth {
		return
	}
	if was.Kind != "" {
		b.Steps = append(slices.Clip(b.Steps), model.BuildStep{Kind: was.Kind, What: was.Image, Took: now.Sub(b.StepAt)})
	}
	b.StepAt = time.Time{}
	if next.Kind != "" {
		b.StepAt = now
	}
}

// ended moves the running build to the past builds. ok is false when the action belongs to another build.
func (h *History) ended(a BuildCompleted) (b Build, ok bool) {
	if h.Current == nil || h.Current.Serial != a.Serial {
		return Build{}, false
	}
	b = *h.Current
	b.FinishedAt, b.Err, b.Cancelled, b.Mode, b.Warnings, b.FellBack = a.At, a.Err, a.Cancelled, a.Mode, a.Warnings, a.FellBack
	b.Stage, b.Progress, b.StepAt = "", model.BuildProgress{}, time.Time{}
	b.Steps, b.Containers, b.Problem, b.Output, b.Deployed = a.Steps, a.Containers, a.Problem, a.Output, a.Deployed
	b.Verdict, b.LayersAhead = a.Verdict, a.LayersAhead
	h.forgetCases()
	h.Current = nil
	h.Builds = append([]Build{b}, h.Builds[:min(len(h.Builds), keptBuilds-1)]...)
	h.waited(b)
	return b, true
}

// forgetCases drops the single tests of past runs: there may be many, and only those of the newest verdict are shown.
func (h *History) forgetCases() {
	for i, b := range h.Builds {
		if v := b.Verdict; v != nil && len(v.Cases) > 0 {
			without := *v
			without.Cases, without.Left = nil, 0
			h.Builds = slices.Clone(h.Builds)
			h.Builds[i].Verdict = &without
		}
	}
}

// containerEnded records the end of an update that was still running in a container when its build ended. The build gets
// the error unless it has one already.
func (h *History) containerEnded(serial int, is model.ContainerUpdate, err string) {
	at := slices.IndexFunc(h.Builds, func(b Build) bool { return b.Serial == serial })
	if at < 0 {
		return
	}
	h.Builds = slices.Clone(h.Builds)
	b := &h.Builds[at]
	b.Containers = slices.Clone(b.Containers)
	for i, c := range b.Containers {
		if c.ID == is.ID && c.Behind {
			b.Containers[i] = is
		}
	}
	if b.Err == "" {
		b.Err = err
	}
}

// Last returns the past build that determines the state of the resource: the newest one that was not cancelled. A successful part
// of an update proves nothing about the rest, so it does not count.
func (h History) Last() (last Build, ok bool) {
	for _, b := range h.Builds {
		switch {
		case b.Cancelled:
		case b.BuildOnly && b.Err == "": // the resource is not deployed by it
		case b.Part && ok: // a newer part has been seen
		case b.Part:
			last, ok = b, true
		case ok && last.Err != "" && b.Err == "":
			return last, true
		default:
			return b, true
		}
	}
	return last, ok
}

// Begun reports whether an update has begun, whatever its result: a deploy that failed may have applied some of the
// objects.
func (u Update) Begun() bool {
	return !u.AppliedAt.IsZero() || !u.AttemptedAt.IsZero() || u.Current != nil
}
