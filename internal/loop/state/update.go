package state

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// keptBuilds is how many past builds of a resource the table keeps.
const keptBuilds = 20

// Update is an entry of table updates; its id is the resource's name.
type Update struct {
	// manifest is the declaration that the fields below are about.
	manifest model.Manifest
	// Off is set while the resource is switched off: nothing is known of it then, and nothing is noted. Switched is the
	// user's own word on that, as in Resource.
	Off      bool
	switched Switch
	// Targets are the targets of the manifest whose files it watches.
	Targets []model.TargetID
	// Changes are, per target, the files that changed since the result that is in use was begun.
	Changes map[model.TargetID]Changes
	// Noticed are changes that have not settled yet, by target and path. They do not ask for a build, since more may come;
	// files that need nothing but to be copied into a container go at once.
	Noticed map[model.TargetID]Changes
	// AttemptedAt is when the newest build began: changes up to then no longer ask for a build of their own.
	AttemptedAt time.Time
	// Declared is when the manifest changed in a way that asks for a build; zero when it did not since the last one.
	Declared time.Time
	// Triggered is when the user asked for a build; zero when nobody did.
	Triggered time.Time
	// Current is the build that runs, nil between builds. Builds are the past ones, newest first.
	Current *Build
	Builds  []Build
	// Saves are the newest saves of its files, oldest first.
	Saves []Save
	// Serial numbers the builds of the resource.
	Serial int
	// Images are the results that are in use, by reference. Applied are the objects of the last successful deploy.
	Images    map[string]model.ImageResult
	Applied   []model.AppliedObject
	AppliedAt time.Time
	// Lost are objects among Applied that are gone from the cluster, by UID, and since when that is known.
	Lost map[string]time.Time
	// TakenDown says what deleted the objects for the user from outside, such as hone down; empty if nothing did since the last update.
	TakenDown string
	// Succeeded is set after the first successful build; SucceededSerial is the newest one.
	Succeeded       bool
	SucceededSerial int
	// WasReady is set once the resource has been up to date with its runtime ready: whoever depends on it may begin.
	WasReady bool
	// Synced says, by container id, up to when changes have been copied into it.
	Synced map[string]time.Time
	// Behind are, by container id, the updates that still run though the build that they are part of is over.
	Behind map[string]Behind
	// Faults are, by container id, why an update that had fallen behind failed, until another one worked.
	Faults map[string]string
	// Broken is when one failed in a way that asks for a new image; zero when none did since the last build.
	Broken time.Time
	// RetryAt is when a build that failed for something outside, which may be over by then, is tried again; zero when none
	// is. Outages is how many failed so in a row. Retry is when that time came; zero when no build is asked for by it.
	RetryAt time.Time
	Outages int
	Retry   time.Time
	// Stuck says of which containers, by id, the newest update in place failed for a reason that no other way gets around:
	// they do not ask for an update before something else changes. The value is when that update began.
	Stuck map[string]time.Time
	// InPlaceBroken is why live updates are not tried before the next deploy; empty when they are. It is set after every
	// failed deploy: a live update that follows would pass for the end of it.
	InPlaceBroken string
}

// Build is one update of a resource.
type Build struct {
	Serial int
	Reason BuildReason
	// Files are the changed files that it takes in, relative to the Tiltfile where they lie below it.
	Files []string
	// Mode is how it was done: "image", "container", "exec", "local", "deploy"; empty until that is known.
	Mode string
	// Containers are what was done in each container, where it was done in place.
	Containers []model.ContainerUpdate
	// Stage is what it is doing now, for people.
	Stage      string
	StartedAt  time.Time
	FinishedAt time.Time
	// Err is why it failed, empty when it did not. Cancelled builds have neither succeeded nor failed.
	Err       string
	Cancelled bool
	// Problem is what Err says, in its parts; nil where that is not known.
	Problem  *Problem
	Warnings int
	// FellBack is why a faster mode was not enough.
	FellBack string
	Span     string
}

// Duration is how long the build took, or has taken at the given time.
func (b Build) Duration(now time.Time) time.Duration {
	if b.FinishedAt.IsZero() {
		return now.Sub(b.StartedAt)
	}
	return b.FinishedAt.Sub(b.StartedAt)
}

// InPlace reports whether the build did no more than update containers that run.
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
	ReasonBehind    // a container that was behind can have what came meanwhile
	ReasonBroken    // updating in place failed in a container that was behind
	ReasonLost      // objects that it applied are gone from the cluster
	ReasonRetry     // what a build failed for may be over
)

// Has reports whether r holds all of other.
func (r BuildReason) Has(other BuildReason) bool { return r&other == other }

// String names the reasons: "files changed, triggered".
func (r BuildReason) String() string {
	var words []string
	for i, w := range []string{"initial build", "files changed", "config changed", "triggered", "container started", "container was behind",
		"update in place failed", "objects went missing", "trying again"} {
		if r&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// BuildStarted says that a build has begun. It takes in every change up to At, the time of the snapshot that it was
// decided on.
type BuildStarted struct {
	Resource model.ManifestName
	Serial   int
	Reason   BuildReason
	Files    []string
	At       time.Time
	Span     string
}

// BuildProgressed says what a build is doing.
type BuildProgressed struct {
	Resource model.ManifestName
	Serial   int
	Stage    string
	Mode     string
}

// BuildCompleted says that a build has ended.
type BuildCompleted struct {
	Resource model.ManifestName
	Serial   int
	At       time.Time
	Mode     string
	// Err is why it failed; Problem is the same in its parts, nil where that is not known.
	Err     string
	Problem *Problem
	// Cancelled builds leave their changes pending.
	Cancelled bool
	Warnings  int
	FellBack  string
	// Images are the results of the images that were built, also of a build that failed later.
	Images map[string]model.ImageResult
	// Deployed says that the objects were applied, as Applied, or the local command has run.
	Deployed bool
	Applied  []model.AppliedObject
	// Synced are the ids of the containers that were updated in place.
	Synced []string
	// Containers are what was done in each container, where it was done in place. Behind are those in which it still runs, by
	// container id; the build fills in its serial and since when.
	Containers []model.ContainerUpdate
	Behind     map[string]Behind
	// Stuck are the ids of containers that could not be updated in place, and that nothing else can be done about.
	Stuck []string
	// InPlaceBroken is set when updating in place failed for a reason that is not the user's.
	InPlaceBroken string
	// ClusterErr is set when the update was broken off because the cluster did not answer, EngineErr when the container engine
	// did not.
	ClusterErr, EngineErr string
	// Passing says that Err is about something outside that may be over soon: the update is tried again by itself.
	Passing bool
}

// RetryDue says that the time has come to try a build again that failed for something outside.
type RetryDue struct {
	Resource model.ManifestName
	Serial   int
}

// RetryPause is how long after the nth failure in a row for something outside a build is tried again: 2 s, then twice as
// long each time, up to a minute.
func RetryPause(n int) time.Duration {
	return min(2*time.Second<<min(max(n-1, 0), 5), time.Minute)
}

// ResourcesReady says that resources are up to date and ready, each for the first time.
type ResourcesReady struct{ Names []model.ManifestName }

func init() {
	store.On(Updates, func(d *store.Draft[Update], a ResourcesReady) {
		for _, name := range a.Names {
			if e, ok := d.Get(string(name)); ok && !e.Value.WasReady {
				e.Value.WasReady = true
				d.Put(e.ID, e.Value)
			}
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a TiltfileLoaded) {
		if a.Err == "" {
			declareUpdates(d, a.Result)
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a ResourcesTriggered) {
		for _, name := range a.Names {
			d.Update(string(name), func(u Update) Update {
				if !u.Off {
					u.Triggered = d.Now()
				}
				return u
			})
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a BuildStarted) {
		d.Update(string(a.Resource), func(u Update) Update {
			u.Current = &Build{Serial: a.Serial, Reason: a.Reason, Files: a.Files, StartedAt: a.At, Span: a.Span}
			u.Serial, u.TakenDown, u.RetryAt = a.Serial, "", time.Time{}
			return u
		})
	})
	store.On(Updates, func(d *store.Draft[Update], a BuildProgressed) {
		d.Update(string(a.Resource), func(u Update) Update {
			if u.Current != nil && u.Current.Serial == a.Serial {
				b := *u.Current
				b.Stage = a.Stage
				if a.Mode != "" {
					b.Mode = a.Mode
				}
				u.Current = &b
			}
			return u
		})
	})
	store.On(Updates, func(d *store.Draft[Update], a BuildCompleted) {
		d.Update(string(a.Resource), func(u Update) Update { return u.completed(a) })
	})
	store.On(Updates, func(d *store.Draft[Update], a RetryDue) {
		d.Update(string(a.Resource), func(u Update) Update {
			if u.Serial == a.Serial && !u.RetryAt.IsZero() {
				u.RetryAt, u.Retry = time.Time{}, d.Now()
			}
			return u
		})
	})
	store.On(Updates, func(d *store.Draft[Update], a StragglerEnded) {
		d.Update(string(a.Resource), func(u Update) Update { return u.caughtUp(a, d.Now()) })
	})
	store.On(Updates, func(d *store.Draft[Update], a PodGone) {
		if a.Pod.Resource != "" {
			d.Update(string(a.Pod.Resource), func(u Update) Update { return u.forget(a.Pod) })
		}
	})
}

// declareUpdates keeps an entry for each resource, and notes which manifests changed so that they need a build.
func declareUpdates(d *store.Draft[Update], tf model.Tiltfile) {
	chosen := EnabledNames(tf)
	declared := map[string]bool{}
	for _, m := range tf.Manifests {
		id := string(m.Name)
		declared[id] = true
		e, known := d.Get(id)
		u, off := e.Value, !e.Value.switched.enables(chosen == nil || chosen[m.Name])
		switch {
		case !known:
			d.Put(id, begun(m, SwitchNone, off, 0))
		case u.Off != off:
			u.manifest = m
			u.turn(d, id, off)
		case !reflect.DeepEqual(u.manifest, m):
			d.Put(id, u.redeclared(m, d.Now()))
		}
	}
	for e := range d.All() {
		if !declared[e.ID] {
			d.Delete(e.ID)
		}
	}
}

// redeclared takes in a new declaration: a difference that matters asks for a build, and results of images that are now
// declared in another way are dropped.
func (u Update) redeclared(m model.Manifest, now time.Time) Update {
	if u.Off {
		u.manifest = m
		return u
	}
	if NeedsBuild(u.manifest, m) {
		u.Declared = now
	}
	for ref := range u.Images {
		was, _ := u.manifest.Image(ref)
		is, ok := m.Image(ref)
		if !ok || !reflect.DeepEqual(buildPartOfImage(was), buildPartOfImage(is)) {
			u.Images = without(u.Images, ref)
		}
	}
	u.manifest, u.Targets = m, targetsOf(m)
	return u
}

func targetsOf(m model.Manifest) []model.TargetID {
	var ids []model.TargetID
	for _, im := range m.Images {
		ids = append(ids, im.ID())
	}
	return append(ids, m.DeployID())
}

func (u Update) completed(a BuildCompleted) Update {
	if u.Current == nil || u.Current.Serial != a.Serial {
		return u
	}
	b := *u.Current
	b.FinishedAt, b.Err, b.Cancelled, b.Mode, b.Warnings, b.FellBack = a.At, a.Err, a.Cancelled, a.Mode, a.Warnings, a.FellBack
	b.Stage, b.Containers, b.Problem = "", a.Containers, a.Problem
	u.Current = nil
	u.Builds = append([]Build{b}, u.Builds[:min(len(u.Builds), keptBuilds-1)]...)
	if a.Cancelled {
		return u // with it the images that it made: nothing would ask for them to be deployed
	}
	for ref, result := range a.Images {
		u.Images = with(u.Images, ref, result)
		u.settle(model.ImageID(ref), result.StartedAt)
	}
	u.AttemptedAt = b.StartedAt
	if !u.Declared.After(b.StartedAt) {
		u.Declared = time.Time{}
	}
	if !u.Triggered.After(b.StartedAt) {
		u.Triggered = time.Time{}
	}
	if !u.Broken.After(b.StartedAt) {
		u.Broken = time.Time{}
	}
	if !u.Retry.After(b.StartedAt) {
		u.Retry = time.Time{}
	}
	if u.Outages++; !a.Passing {
		u.Outages = 0
	} else {
		u.RetryAt = a.At.Add(RetryPause(u.Outages))
	}
	for _, id := range a.Synced {
		u = u.synced(id, b.StartedAt)
	}
	for id, behind := range a.Behind {
		behind.Serial, behind.Since = b.Serial, b.StartedAt
		u.Behind = with(u.Behind, id, behind)
	}
	for _, id := range a.Stuck {
		u.Stuck = with(u.Stuck, id, b.StartedAt)
	}
	if a.InPlaceBroken != "" {
		u.InPlaceBroken = a.InPlaceBroken
	}
	if len(a.Images) > 0 {
		u.InPlaceBroken = cmp.Or(u.InPlaceBroken, "an image was built that is not deployed yet")
	}
	if a.Err != "" && !b.InPlace() && !u.AppliedAt.IsZero() {
		u.InPlaceBroken = cmp.Or(u.InPlaceBroken, "the newest deploy failed, so the next update deploys everything again")
	}
	if a.Deployed {
		u = u.found(a.Applied, b.StartedAt)
		u.Applied, u.AppliedAt, u.InPlaceBroken, u.Faults = a.Applied, a.At, "", nil
		for _, id := range u.Targets {
			if id.Type != model.TargetImage {
				u.settle(id, b.StartedAt)
			}
		}
	}
	if a.Err != "" {
		u = u.givenUp(b.StartedAt)
	}
	if a.Err == "" {
		u.Succeeded, u.SucceededSerial = true, b.Serial
	}
	return u
}

// forget drops what is known of the containers of a pod that is gone.
func (u Update) forget(p model.Pod) Update {
	for _, c := range p.LastingContainers() {
		if _, ok := u.Synced[c.ID]; ok {
			u.Synced = without(u.Synced, c.ID)
		}
		if _, ok := u.Behind[c.ID]; ok {
			u.Behind = without(u.Behind, c.ID)
		}
		if _, ok := u.Faults[c.ID]; ok {
			u.Faults = without(u.Faults, c.ID)
		}
		if _, ok := u.Stuck[c.ID]; ok {
			u.Stuck = without(u.Stuck, c.ID)
		}
	}
	return u
}

// Last returns the newest past build that was not cancelled.
func (u Update) Last() (Build, bool) {
	for _, b := range u.Builds {
		if !b.Cancelled {
			return b, true
		}
	}
	return Build{}, false
}

// NeedsBuild reports whether going from one manifest to the other needs a build. Labels, links, trigger modes, port
// forwards, dependencies and live update steps do not, but for the step that restarts the process: that takes other containers.
func NeedsBuild(was, is model.Manifest) bool {
	return !reflect.DeepEqual(buildPart(was), buildPart(is))
}

func buildPart(m model.Manifest) model.Manifest {
	m.Labels, m.Links, m.ResourceDeps, m.TriggerMode, m.AutoInit = nil, nil, nil, 0, false
	images := slices.Clone(m.Images)
	for i := range images {
		restart := images[i].LiveUpdate.RestartProcess
		supervised := m.IsCompose() && images[i].LiveUpdate.RestartContainer
		images[i] = buildPartOfImage(images[i])
		images[i].LiveUpdate.RestartContainer = supervised
		if restart != nil {
			images[i].LiveUpdate.RestartProcess = &model.RestartProcess{File: restart.File}
		}
	}
	m.Images = images
	if m.K8s != nil {
		k := *m.K8s
		k.PortForwards, k.Links, k.PodReadiness = nil, nil, ""
		k.ExtraPodSelectors, k.SelectorsOnly = nil, false
		if k.CustomDeploy != nil {
			d := *k.CustomDeploy
			d.Watch, d.LiveUpdate, d.ImageSelector, d.ContainerSelector = model.WatchSpec{}, model.LiveUpdate{}, "", ""
			k.CustomDeploy = &d
		}
		m.K8s = &k
	}
	if m.Local != nil {
		l := *m.Local
		l.Watch, l.Links, l.AllowParallel, l.Readiness = model.WatchSpec{}, nil, false, nil
		m.Local = &l
	}
	if c := m.Compose; c != nil {
		// The hash stands for the service; the project's files, which other services share, are not looked at.
		m.Compose = &model.ComposeTarget{Project: model.ComposeProject{Name: c.Project.Name, Dir: c.Project.Dir},
			Service: c.Service, Image: c.Image, ImageTarget: c.ImageTarget, Hash: c.Hash}
	}
	return m
}

func buildPartOfImage(im model.ImageTarget) model.ImageTarget {
	im.LiveUpdate, im.Watch = model.LiveUpdate{}, model.WatchSpec{}
	return im
}
