package state

import (
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// FileChange is a set of changed files of one target.
type FileChange struct {
	Target model.TargetID
	Paths  []string
}

// FilesChanged reports that files that targets depend on have changed. The store dates a change from the moment at which it
// receives the action, so that a build, which begins with a snapshot, includes exactly the changes of that snapshot. At is the
// time at which the file system reported the change, and Made the time of the newest change.
type FilesChanged struct {
	Changes  []FileChange
	At, Made time.Time
}

// FilesNoticed reports that files have just changed; FilesChanged follows for files that still differ once the tree has
// settled.
type FilesNoticed struct {
	Changes  []FileChange
	At, Made time.Time
}

// Files holds the changed files.
type Files struct {
	// Targets are the targets of the manifest whose files it watches.
	Targets []Target
	// Changes are, per target, the files that changed since the build of the deployed result began.
	Changes map[model.TargetID]Changes
	// Earlier are the files of Changes of which containers have had an earlier version, under the time of that version. It no longer
	// exists: a container that is to get it back gets the newest version, and so do all others.
	Earlier map[model.TargetID]Changes
	// Noticed are changes that have not settled yet, by target and path. They do not request a build, since more may
	// follow; files that only need to be copied into a container are copied at once.
	Noticed map[model.TargetID]Changes
	// Saves are the newest saves of its files, oldest first.
	Saves []Save
}

// Target is a target of a manifest.
type Target struct {
	model.TargetID
	// steps is the live update for its files. It is a copy of a part of the manifest, which table resources holds: the
	// reducers of changed files need it, and a reducer sees no other table.
	steps model.LiveUpdate
	// serves is set if a server runs once the target is up to date.
	serves bool
}

func targetsOf(m model.Manifest) []Target {
	targets := make([]Target, 0, len(m.Images)+1)
	for _, im := range m.Images {
		targets = append(targets, Target{TargetID: im.ID(), steps: m.StepsFor(im.ID())})
	}
	return append(targets, Target{m.DeployID(), m.StepsFor(m.DeployID()), m.IsLocal() && !m.Local.Serve.Empty()})
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a FilesChanged) {
		for e := range d.Refs() {
			if u := e.Value; u.changed(a, d.Now()) {
				d.Put(e.ID, u)
			}
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a FilesNoticed) {
		for e := range d.Refs() {
			if u := e.Value; u.noticed(a, d.Now()) {
				d.Put(e.ID, u)
			}
		}
	})
}

// target returns the target with an id, nil if the manifest has none.
func (f *Files) target(id model.TargetID) *Target {
	for i := range f.Targets {
		if f.Targets[i].TargetID == id {
			return &f.Targets[i]
		}
	}
	return nil
}

// isDeployed reports whether the resource has objects in Kubernetes, or containers of Compose.
func (f *Files) isDeployed() bool {
	return slices.ContainsFunc(f.Targets, func(t Target) bool { return t.Type == model.TargetK8s || t.Type == model.TargetCompose })
}

func (u *Update) changed(a FilesChanged, now time.Time) (hit bool) {
	for _, c := range a.Changes {
		if t := u.target(c.Target); t != nil && len(c.Paths) > 0 {
			u.superseded(t.TargetID, c.Paths)
			u.settled(t, c.Paths, now)
			hit = true
		}
	}
	if hit {
		u.saved(Save{At: now, Made: a.Made, Known: a.At})
	}
	return hit
}

// superseded notes the files of which containers have had the version before the one that is about to be recorded.
func (u *Update) superseded(id model.TargetID, paths []string) {
	changes, earlier := u.Changes[id], u.Earlier[id]
	for _, p := range paths {
		if at, ok := changes.At(p); ok && !at.After(u.Reached) {
			earlier = earlier.With([]string{p}, at)
		}
	}
	u.Earlier = kept(u.Earlier, id, earlier)
}

// settled adds paths to the changes of a target. A path that was noticed and only needs to be copied is dated from then,
// since every update that began meanwhile included it. All other paths are dated from now, whatever updates began
// meanwhile.
func (f *Files) settled(t *Target, paths []string, now time.Time) {
	changes, noticed := f.Changes[t.TargetID], f.Noticed[t.TargetID]
	byTime := map[time.Time][]string{}
	for _, p := range paths {
		at, ok := noticed.At(p)
		if !ok || t.steps.Effort(p) > model.EffortCopy {
			at = now
		}
		byTime[at] = append(byTime[at], p)
	}
	for at, paths := range byTime {
		changes = changes.With(paths, at)
	}
	f.Changes = kept(f.Changes, t.TargetID, changes)
	f.Noticed = kept(f.Noticed, t.TargetID, noticed.Without(paths))
}

// kept returns a copy of m with the changes of a target, without the target when there are none.
func kept(m map[model.TargetID]Changes, id model.TargetID, c Changes) map[model.TargetID]Changes {
	if !c.Empty() {
		return with(m, id, c)
	}
	if _, ok := m[id]; ok {
		return without(m, id)
	}
	return m
}

// noticed records changes of targets whose files can be copied into a container at once. A single change that needs more than
// a copy is nothing to act on yet, and FilesChanged may follow at once: a snapshot between them would only delay it.
func (f *Files) noticed(a FilesNoticed, now time.Time) (hit bool) {
	single := len(a.Changes) == 1 && len(a.Changes[0].Paths) == 1
	for _, c := range a.Changes {
		t := f.target(c.Target)
		if t == nil || len(c.Paths) == 0 || !t.steps.CopiesEarly() {
			continue
		}
		if !single || t.steps.Effort(c.Paths[0]) == model.EffortCopy {
			f.Noticed = with(f.Noticed, c.Target, f.Noticed[c.Target].With(c.Paths, now))
			hit = true
		}
	}
	if hit {
		f.saved(Save{At: now, Made: a.Made, Known: a.At})
	}
	return hit
}

// settle drops the changes of a target that its newest result includes. copies is set if containers whose image
// hone does not build get the files in place.
func (f *Files) settle(t Target, until time.Time, copies bool) {
	due := func(c Changes) Changes { return c.Later(until) }
	if copies && t.Type == model.TargetK8s {
		due = func(c Changes) Changes { return c.Without(beyond(t.steps, c, until)) }
	}
	f.Changes = kept(f.Changes, t.TargetID, due(f.Changes[t.TargetID]))
	f.Earlier = kept(f.Earlier, t.TargetID, due(f.Earlier[t.TargetID]))
	f.Noticed = kept(f.Noticed, t.TargetID, due(f.Noticed[t.TargetID]))
}

// beyond returns the files, changed up to the given time, that live update steps do not take.
func beyond(steps model.LiveUpdate, c Changes, until time.Time) (files []string) {
	for f, at := range c.All() {
		if !at.After(until) && !steps.Takes(f) {
			files = append(files, f)
		}
	}
	return files
}

// pending yields the changes of a target that request a build: those after the newest build began, unless a part of an update has
// copied them meanwhile.
func (u Update) pending(id model.TargetID, changes Changes) iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		for p, at := range changes.After(u.AttemptedAt) {
			copied := !at.After(u.Reached) && u.target(id).takes(p)
			if !copied && !yield(p, at) {
				return
			}
		}
	}
}

// takes reports whether the live update for a target's files takes one; a target that is no longer declared takes none.
func (t *Target) takes(path string) bool { return t != nil && t.steps.Takes(path) }

// Pending returns the files that request a build: those that changed after the newest build began.
func (u Update) Pending() map[model.TargetID][]string {
	var out map[model.TargetID][]string
	for id, changes := range u.Changes {
		for p := range u.pending(id, changes) {
			if out == nil {
				out = map[model.TargetID][]string{}
			}
			out[id] = append(out[id], p)
		}
	}
	for _, files := range out {
		slices.Sort(files)
	}
	return out
}

// PendingSince returns when the oldest pending change happened; zero when there is none.
func (u Update) PendingSince() time.Time {
	var oldest time.Time
	for id, changes := range u.Changes {
		for _, at := range u.pending(id, changes) {
			if oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
	}
	return oldest
}

// FilesChangedText is the log's phrase for changed files: "2 Files Changed: [a b]".
func FilesChangedText(files []string) string {
	word := "Files"
	if len(files) == 1 {
		word = "File"
	}
	shown := files
	more := ""
	if len(files) > 5 {
		shown, more = files[:5], " …"
	}
	return fmt.Sprintf("%d %s Changed: [%s%s]", len(files), word, strings.Join(shown, " "), more)
}

// Relative returns paths relative to the folder of the Tiltfile where they lie below it.
func Relative(tiltfile string, paths []string) []string {
	dir := filepath.Dir(tiltfile)
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		if p != dir && model.IsChild(dir, p) {
			out[i] = strings.TrimPrefix(p[len(dir):], string(filepath.Separator))
		}
	}
	return out
}

// AllChanges returns every file in changes once, sorted.
func AllChanges(changes map[model.TargetID][]string) []string {
	if len(changes) == 0 {
		return nil
	}
	set := map[string]bool{}
	for _, files := range changes {
		for _, f := range files {
			set[f] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
