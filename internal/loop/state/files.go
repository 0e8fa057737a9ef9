package state

import (
	"fmt"
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

// FilesChanged says that files that targets depend on have changed. The store counts a change from when it learns of it,
// so that a build, which begins with a snapshot, takes in exactly the changes of that snapshot; At is when the file
// system told of it, and Made when the newest of the changes was made.
type FilesChanged struct {
	Changes  []FileChange
	At, Made time.Time
}

// FilesNoticed says that files have changed just now; FilesChanged follows for those whose change is still there when all
// has settled.
type FilesNoticed struct {
	Changes  []FileChange
	At, Made time.Time
}

func init() {
	store.On(Updates, func(d *store.Draft[Update], a FilesChanged) {
		for e := range d.All() {
			if u, changed := e.Value.changed(a, d.Now()); changed {
				d.Put(e.ID, u)
			}
		}
	})
	store.On(Updates, func(d *store.Draft[Update], a FilesNoticed) {
		for e := range d.All() {
			if u, changed := e.Value.noticed(a, d.Now()); changed {
				d.Put(e.ID, u)
			}
		}
	})
}

func (u Update) changed(a FilesChanged, now time.Time) (Update, bool) {
	hit := false
	for _, c := range a.Changes {
		if len(c.Paths) > 0 && slices.Contains(u.Targets, c.Target) {
			u.settled(c, now)
			hit = true
		}
	}
	if hit {
		u = u.saved(Save{At: now, Made: a.Made, Known: a.At})
	}
	return u, hit
}

// settled adds paths to the changes of a target. One that was noticed and only asks to be copied counts from then, since
// every update that began meanwhile has taken it in. The others have waited for this, whatever began meanwhile.
func (u *Update) settled(c FileChange, now time.Time) {
	changes, noticed := u.Changes[c.Target], u.Noticed[c.Target]
	steps := u.manifest.StepsFor(c.Target)
	byTime := map[time.Time][]string{}
	for _, p := range c.Paths {
		at, ok := noticed.At(p)
		if !ok || !steps.OnlyCopies(p) {
			at = now
		}
		byTime[at] = append(byTime[at], p)
	}
	for at, paths := range byTime {
		changes = changes.With(paths, at)
	}
	u.Changes = kept(u.Changes, c.Target, changes)
	u.Noticed = kept(u.Noticed, c.Target, noticed.Without(c.Paths))
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

// noticed takes in changes of targets whose files can go into a container at once.
func (u Update) noticed(a FilesNoticed, now time.Time) (Update, bool) {
	hit := false
	for _, c := range a.Changes {
		if len(c.Paths) > 0 && slices.Contains(u.Targets, c.Target) && u.manifest.StepsFor(c.Target).CopiesEarly() {
			u.Noticed = with(u.Noticed, c.Target, u.Noticed[c.Target].With(c.Paths, now))
			hit = true
		}
	}
	if hit {
		u = u.saved(Save{At: now, Made: a.Made, Known: a.At})
	}
	return u, hit
}

// settle forgets the changes of a target that its newest result holds. The maps in u are replaced, never written to.
func (u *Update) settle(id model.TargetID, until time.Time) {
	u.Changes = kept(u.Changes, id, u.Changes[id].Later(until))
	u.Noticed = kept(u.Noticed, id, u.Noticed[id].Later(until))
}

// Pending returns the files that ask for a build: those that changed after the newest build began.
func (u Update) Pending() map[model.TargetID][]string {
	var out map[model.TargetID][]string
	for id, changes := range u.Changes {
		for p := range changes.After(u.AttemptedAt) {
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
	for _, changes := range u.Changes {
		for _, at := range changes.After(u.AttemptedAt) {
			if oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
	}
	return oldest
}

// Dirty reports whether a target changed since the result that is in use was begun.
func (u Update) Dirty(id model.TargetID) bool { return !u.Changes[id].Empty() }

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
