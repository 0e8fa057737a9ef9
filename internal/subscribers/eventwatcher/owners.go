package eventwatcher

import (
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// owners maps the UIDs of applied objects, of pods, and of the controllers between them to resources. It follows the changes of the tables:
// with thousands of pods, one of them changes all the time.
type owners struct {
	updates store.List[state.Update]
	pods    store.List[state.Pod]
	// names has the resource that each UID was last given to, and counts the number of rows that give it to one.
	names  map[string]model.ManifestName
	counts map[string]int
}

func newOwners() *owners {
	return &owners{names: map[string]model.ManifestName{}, counts: map[string]int{}}
}

// follow takes in the changes since the last view.
func (o *owners) follow(v store.View) {
	updates, pods := state.Updates.In(v).List(), state.Pods.In(v).List()
	for was, is := range updates.Changes(o.updates) {
		ofUpdate(was, o.drop)
		ofUpdate(is, o.add)
	}
	for was, is := range pods.Changes(o.pods) {
		ofPod(was, o.drop)
		ofPod(is, o.add)
	}
	o.updates, o.pods = updates, pods
}

func ofUpdate(e *store.Entry[state.Update], do func(uid string, name model.ManifestName)) {
	if e == nil {
		return
	}
	for _, a := range e.Value.Applied {
		do(a.UID, model.ManifestName(e.ID))
	}
}

func ofPod(e *store.Entry[state.Pod], do func(uid string, name model.ManifestName)) {
	if e != nil {
		do(e.ID, e.Value.Resource)
		do(e.Value.Owner, e.Value.Resource)
	}
}

func (o *owners) add(uid string, name model.ManifestName) {
	if uid != "" {
		o.names[uid] = name
		o.counts[uid]++
	}
}

func (o *owners) drop(uid string, _ model.ManifestName) {
	if o.counts[uid]--; o.counts[uid] <= 0 {
		delete(o.counts, uid)
		delete(o.names, uid)
	}
}
