package state

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ClusterWatch is an entry of table clusterwatches: a watch of the cluster that does not work. Its id is "kind namespace
// selector".
type ClusterWatch struct {
	// Resources are the resources that the watch is for, sorted.
	Resources []model.ManifestName
	// Problem is why it does not work, and how to fix it.
	Problem Problem
	// Blinds is set when the state of the resources is unknown without it.
	Blinds bool
	// Since is the time at which it stopped working. The reducer fills it in.
	Since time.Time
}

// ClusterWatchFailed reports that a watch of the cluster does not work.
type ClusterWatchFailed struct {
	ID    string
	Watch ClusterWatch
}

// ClusterWatchMended reports that a watch works again, or is no longer needed.
type ClusterWatchMended struct{ ID string }

func init() {
	store.On(ClusterWatches, func(d *store.Draft[ClusterWatch], a ClusterWatchFailed) {
		was := d.Ref(a.ID)
		next := a.Watch
		next.Since = d.Now()
		if was != nil {
			next.Since = was.Value.Since
		}
		if was == nil || !reflect.DeepEqual(was.Value, next) {
			d.Put(a.ID, next)
		}
	})
	store.On(ClusterWatches, func(d *store.Draft[ClusterWatch], a ClusterWatchMended) { d.Delete(a.ID) })
	store.Follow(Events, ClusterWatches, func(d *store.Draft[Event], was, is *store.Entry[ClusterWatch]) {
		if is == nil {
			return
		}
		for _, name := range is.Value.Resources {
			if was == nil || was.Value.Problem != is.Value.Problem || !slices.Contains(was.Value.Resources, name) {
				happened(d, EventProblem, name, is.Value.Problem)
			}
		}
	})
}

// Blinding returns the watch that has failed for longest among the failed watches that the state of the resource depends on.
func Blinding(v store.View, name model.ManifestName) (ClusterWatch, bool) {
	w, ok := blinding.In(v)[name]
	return w, ok
}

var blinding = store.Derive(Schema, "watches that do not work by resource", func(v store.View) map[model.ManifestName]ClusterWatch {
	out := map[model.ManifestName]ClusterWatch{}
	for e := range ClusterWatches.In(v).Refs() {
		for _, name := range e.Value.Resources {
			if was, ok := out[name]; e.Value.Blinds && (!ok || e.Value.Since.Before(was.Since)) {
				out[name] = e.Value
			}
		}
	}
	return out
}, ClusterWatches)

// WatchTroubles tracks the watches of a subscriber that do not work. It is for one goroutine.
type WatchTroubles[K comparable] struct {
	// ID names a watch, uniquely among the watches of all subscribers.
	ID func(K) string
	// Blinds is as in ClusterWatch.
	Blinds bool
	errs   map[K]error
	told   map[string]ClusterWatch
}

// Take records the state of a watch: its error, nil when it works.
func (t *WatchTroubles[K]) Take(key K, err error) {
	if t.errs == nil {
		t.errs, t.told = map[K]error{}, map[string]ClusterWatch{}
	}
	t.errs[key] = err
	if err == nil {
		delete(t.errs, key)
	}
}

// Changes returns the actions for the changes since the last call. users holds the resources of each watch that runs, or
// should run. A failure that concerns no resource yet is kept until it does.
func (t *WatchTroubles[K]) Changes(users map[K][]model.ManifestName) []store.Action {
	var out []store.Action
	failing := map[string]bool{}
	for key, err := range t.errs {
		names, used := users[key]
		if !used {
			delete(t.errs, key) // it begins from the start when it is needed again
			continue
		}
		if len(names) == 0 {
			continue
		}
		names = slices.Clone(names)
		slices.Sort(names)
		id, w := t.ID(key), ClusterWatch{Resources: slices.Compact(names), Problem: ProblemOf(err), Blinds: t.Blinds}
		failing[id] = true
		if was, told := t.told[id]; !told || !reflect.DeepEqual(was, w) {
			t.told[id] = w
			out = append(out, ClusterWatchFailed{id, w})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.told)) {
		if !failing[id] {
			delete(t.told, id)
			out = append(out, ClusterWatchMended{id})
		}
	}
	return out
}
