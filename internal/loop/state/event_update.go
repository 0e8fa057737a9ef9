package state

import (
	"reflect"
	"slices"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func init() {
	store.Follow(Events, Updates, func(d *store.Draft[Event], was, is *store.Entry[Update]) {
		if was != nil && is == nil && was.Value.Current != nil {
			abandoned(d, model.ManifestName(was.ID), *was.Value.Current)
		}
		if was == nil || is == nil {
			return // declared, removed or switched
		}
		name, before, now := model.ManifestName(is.ID), &was.Value, &is.Value
		if now.Triggered.After(before.Triggered) {
			happened(d, EventTriggered, name, nil)
		}
		if !same(before.Changes, now.Changes) {
			filesChanged(d, name, before, now)
		}
		if now.Current != nil && (before.Current == nil || before.Current.Serial != now.Current.Serial) {
			happened(d, EventUpdateStarted, name, *now.Current)
		}
		if len(now.Builds) > 0 && (len(before.Builds) == 0 || before.Builds[0].Serial != now.Builds[0].Serial) {
			updateFinished(d, name, now.Builds[0])
		}
		if len(before.Lanes) > 0 && !same(before.Lanes, now.Lanes) {
			caughtUp(d, name, before, now)
		}
		if now.WasReady && !before.WasReady {
			happened(d, EventReady, name, Readiness{After: d.Now().Sub(is.Created)})
		}
	})
	store.Follow(Events, Resources, func(d *store.Draft[Event], was, is *store.Entry[Resource]) {
		if was == nil || is == nil {
			return
		}
		switch before, now := was.Value.comes(), is.Value.comes(); {
		case now && !before:
			happened(d, EventEnabled, model.ManifestName(is.ID), nil)
		case before && !now && (is.Phase == store.Running || is.Value.Next != nil): // else it leaves the Tiltfile
			happened(d, EventDisabled, model.ManifestName(is.ID), nil)
		}
	})
	store.Follow(Events, FileWatches, func(d *store.Draft[Event], was, is *store.Entry[FileWatch]) {
		if was != nil && is != nil && is.Value.Changes > was.Value.Changes {
			files := settledFiles(slices.Sorted(slices.Values(is.Value.Files)))
			files.Watch = is.ID
			happened(d, EventFilesChanged, "", files)
		}
	})
}

// comes reports whether a resource is enabled, or will be once it is torn down.
func (r *Resource) comes() bool {
	if r.Next != nil {
		return r.Next.Enabled
	}
	return r.Enabled
}

// same reports whether two maps are the same object: maps in tables are replaced, never written to.
func same[M ~map[K]V, K comparable, V any](a, b M) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// filesChanged adds an event for the files that have been added to a resource's changes.
func filesChanged(d *store.Draft[Event], name model.ManifestName, before, now *Update) {
	set := map[string]bool{}
	for id, changes := range now.Changes {
		for f := range changes.Since(before.Changes[id]) {
			set[f] = true
		}
	}
	if len(set) > 0 {
		happened(d, EventFilesChanged, name, settledFiles(sortedKeys(set)))
	}
}

func settledFiles(sorted []string) SettledFiles {
	return SettledFiles{Files: slices.Clone(sorted[:min(len(sorted), keptFiles)]), Total: len(sorted)}
}

func updateFinished(d *store.Draft[Event], name model.ManifestName, b Build) {
	happened(d, EventUpdateFinished, name, b)
	switch {
	case b.Err == "" || b.Cancelled:
	case b.Problem != nil:
		happened(d, EventProblem, name, *b.Problem)
	default:
		happened(d, EventProblem, name, ProblemText(b.Err))
	}
}

// abandoned ends an update of a resource that was removed or switched off meanwhile: nothing else will report its end.
func abandoned(d *store.Draft[Event], name model.ManifestName, b Build) {
	b.FinishedAt, b.Cancelled, b.Stage, b.Progress = d.Now(), true, "", model.BuildProgress{}
	happened(d, EventUpdateFinished, name, b)
}

// caughtUp adds events for the updates that ended in containers that were behind. An update whose pod is gone did not end.
func caughtUp(d *store.Draft[Event], name model.ManifestName, before, now *Update) {
	for _, id := range sortedKeys(before.Lanes) {
		sending := before.Lanes[id].Sending
		if sending == nil || now.Lanes[id].Sending != nil {
			continue
		}
		for _, b := range now.Builds {
			for _, c := range b.Containers {
				if c.ID == id && b.Serial == sending.Serial && !c.Behind {
					happened(d, EventContainerCaughtUp, name, c)
				}
			}
		}
	}
}
