package collector

import (
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// joint is everything that the runs for several clusters report together. Clusters are named as in model.K8sTarget. It is safe for use by
// several goroutines.
type joint struct {
	mu sync.Mutex // guards all below, and is held while the sum of the parts is reported, so that the newest sum is reported last
	// done are the clusters in which nothing is left to collect, going the resources that are being deleted in each, and guarded why
	// something stays there.
	done    map[string]bool
	going   map[string][]model.ManifestName
	guarded map[string]string
	// told is set when the end of the whole collection was reported.
	told bool
}

func newJoint() *joint {
	return &joint{done: map[string]bool{}, going: map[string][]model.ManifestName{}, guarded: map[string]string{}}
}

// end notes that nothing is left in a cluster. It reports the end of the whole collection if nothing is left in any that
// answers, and each has answered or failed to.
func (j *joint) end(rt *store.Runtime, v store.View, on string) (whole bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[on] = true
	for _, other := range append([]string{""}, state.DeclaredClusters(v)...) {
		c := state.ClusterOn(v, other)
		if pending := c.Connected || c.Since.IsZero(); pending && !j.done[other] {
			return false
		}
	}
	if !j.told {
		j.told = true
		rt.Dispatch(state.CollectionReported{})
	}
	return true
}

// fail reports an attempt in a cluster that failed. The end is reported again after it.
func (j *joint) fail(rt *store.Runtime, on, why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[on], j.told = false, false
	rt.Dispatch(state.CollectionReported{Err: why})
}

// goes reports the resources that are being deleted in a cluster, beside those in the others.
func (j *joint) goes(rt *store.Runtime, on string, names []model.ManifestName) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.going[on] = names
	var all []model.ManifestName
	for _, names := range j.going {
		all = append(all, names...)
	}
	slices.Sort(all)
	if len(all) > 0 {
		rt.Dispatch(state.CollectionReported{Going: slices.Compact(all)})
	}
}

// guard reports why objects stay in a cluster although they are no longer declared, beside the reasons in the others.
func (j *joint) guard(rt *store.Runtime, on, why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.guarded[on] = why
	var all []string
	for _, why := range j.guarded {
		if why != "" {
			all = append(all, why)
		}
	}
	slices.Sort(all)
	rt.Dispatch(state.PruneGuardChanged{Why: strings.Join(slices.Compact(all), "; ")})
}

// left forgets a cluster that the session no longer works on.
func (j *joint) left(on string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.done, on)
	delete(j.going, on)
	delete(j.guarded, on)
}
